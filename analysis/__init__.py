"""What comes out of a study: statistics, charts, results, the model check and exports."""
