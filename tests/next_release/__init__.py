"""The next release of the software, as far as an upgrade is concerned: one more app, one more migration."""
