"""What a turn costs and what an idle agent weighs, as ratios of one run on one machine."""
