"""Simulated workers who take a study before people do, and the forecast and power that follow."""
