"""The texts that models are sent, and the steps that drafts may hold."""
