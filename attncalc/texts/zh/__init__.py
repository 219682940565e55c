"""Chinese (simplified), in the words of the field."""
