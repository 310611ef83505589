package observatory.spark;

import observatory.launcher.Span;

/** Puts texts of the job's on spans: redacted, cut, and while the trace has room for texts. */
final class SpanTexts {
  private final Redaction redaction;
  private final SpanBudget budget;

  SpanTexts(Redaction redaction, SpanBudget budget) {
    this.redaction = redaction;
    this.budget = budget;
  }

  /** Adds an attribute; null adds nothing. */
  void put(String trace, Span span, String key, String value) {
    String text = redaction.text(value, Redaction.DESCRIPTION);
    span.put(key, budget.text(trace, text) ? text : null);
  }

  Span describe(String trace, Span span, String description) {
    put(trace, span, "spark.description", description);
    return span;
  }

  /** Marks a span as failed, unless the error is null or empty. */
  Span fail(String trace, Span span, String error) {
    if (error == null || error.isEmpty()) {
      return span;
    }
    String text = redaction.text(Causes.first(error), Redaction.MESSAGE);
    return span.error(budget.text(trace, text) ? text : null);
  }
}
