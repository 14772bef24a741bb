"""Pictures made smaller: thumbnails, previews and tiles; may ask storage alone."""
