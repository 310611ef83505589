package observatory.spark;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Cuts texts of the user's, and hides in them what Spark would hide. */
final class Redaction {
  // Characters of a span's texts.
  static final int DESCRIPTION = 256;
  static final int MESSAGE = 1024;
  static final int TASK_MESSAGE = 256;

  /** Spark's own (Utils.REDACTION_REPLACEMENT_TEXT). */
  private static final String HIDDEN = "*********(redacted)";

  /** Spark's default of spark.redaction.regex. */
  private static final String DEFAULT_KEYS = "(?i)secret|password|token|access[.]?key";

  private final Pattern texts;
  private final Pattern values;

  /** The same in SQL: OPTIONS (password 'x'). */
  private final Pattern literals;

  /** texts matches what is hidden in any text, keys the names whose values are; null: Spark's defaults. */
  Redaction(String texts, String keys) {
    this.texts = compile(texts);
    Pattern names = compile(keys);
    String expression = names == null ? DEFAULT_KEYS : keys;
    // In prose a name is followed by = or :, and then by its value. It is looked for at the beginning of a
    // word only: from each character of a long word, the search takes the square of its length.
    String name = "((?<![\\w.\\-])[\\w.\\-]*(?:" + expression + ")[\\w.\\-]*[\"']?";
    values = compile(name + "\\s*[=:]\\s*)(\"[^\"]*\"|'[^']*'|[^\\s,;)]+)");
    literals = compile(name + "\\s+)(\"[^\"]*\"|'[^']*')");
  }

  private static Pattern compile(String expression) {
    try {
      return expression == null || expression.isEmpty() ? null : Pattern.compile(expression);
    } catch (PatternSyntaxException e) {
      return null;
    }
  }

  /** Returns at most length characters of the redacted text; null of null. */
  String text(String text, int length) {
    if (text == null) {
      return null;
    }
    // A match may cross the cut: redact a longer piece than is kept.
    String piece = cut(text, 4 * length);
    if (texts != null) {
      piece = texts.matcher(piece).replaceAll(Matcher.quoteReplacement(HIDDEN));
    }
    return cut(hide(literals, hide(values, piece)), length);
  }

  private static String hide(Pattern secret, String text) {
    if (secret == null) {
      return text;
    }
    StringBuffer out = new StringBuffer();
    Matcher matcher = secret.matcher(text);
    while (matcher.find()) {
      matcher.appendReplacement(out, Matcher.quoteReplacement(matcher.group(1) + HIDDEN));
    }
    return matcher.appendTail(out).toString();
  }

  /** Returns the first characters, code points as an import counts them: of a pair, half is not text. */
  static String cut(String text, int length) {
    int end = 0;
    for (int i = 0; i < length && end < text.length(); i++) {
      end += Character.charCount(text.codePointAt(end));
    }
    return text.substring(0, end);
  }
}
