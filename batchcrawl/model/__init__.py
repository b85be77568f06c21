"""The values that steps exchange and that reach the disk; no behaviour beyond their own encoding."""
