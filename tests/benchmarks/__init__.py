"""What an agent costs and whether that grows, as ratios of one run on one machine."""
