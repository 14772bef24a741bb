"""Pages as PDF, laid out here from our own HTML: no browser is needed to write one."""
