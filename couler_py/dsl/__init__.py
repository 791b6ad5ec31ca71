"""How people write workflows: steps, workflows, placeholders, control flow."""
