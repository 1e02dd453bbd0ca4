"""The rules, by what they are about: generator, model, work, samples, design, host."""
