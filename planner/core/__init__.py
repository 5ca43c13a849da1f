"""The planning model: pure functions on frozen values. See docs/model.md."""
