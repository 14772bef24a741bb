"""Jobs that hold labels against models; may ask every room."""
