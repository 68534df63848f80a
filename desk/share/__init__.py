"""The ways into a study: links for each recruiter and a QR code."""
