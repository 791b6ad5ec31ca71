"""What other systems know of attempts: functions from their own plain data to `Attempt`s."""
