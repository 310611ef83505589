package observatory.launcher;

/** Builds JSON text and inserts commas. Pass a null key for array elements. */
final class Json {
  private final StringBuilder out = new StringBuilder(8192);
  private boolean comma;

  Json object(String key) {
    return open(key, '{');
  }

  Json array(String key) {
    return open(key, '[');
  }

  Json endObject() {
    return close('}');
  }

  Json endArray() {
    return close(']');
  }

  Json text(String key, String value) {
    key(key);
    quoted(value);
    comma = true;
    return this;
  }

  /** Writes a 64-bit integer, which is a string in protobuf's JSON mapping. */
  Json integer(String key, long value) {
    return raw(key, "\"" + value + '"');
  }

  /** Writes a number or boolean in Java's format; NaN and infinities are not valid JSON. */
  Json plain(String key, Object value) {
    return raw(key, String.valueOf(value));
  }

  int length() {
    return out.length();
  }

  /** Truncates to a length() taken earlier in the same array. */
  void truncate(int length) {
    out.setLength(length);
    comma = out.charAt(length - 1) != '[';
  }

  @Override
  public String toString() {
    return out.toString();
  }

  private Json raw(String key, String value) {
    key(key);
    out.append(value);
    comma = true;
    return this;
  }

  private Json open(String key, char bracket) {
    key(key);
    out.append(bracket);
    comma = false;
    return this;
  }

  private Json close(char bracket) {
    out.append(bracket);
    comma = true;
    return this;
  }

  private void key(String key) {
    if (comma) {
      out.append(',');
    }
    if (key != null) {
      quoted(key);
      out.append(':');
    }
  }

  private void quoted(String value) {
    out.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ' || Character.isSurrogate(c)) {
        // Escaped: a truncated text may end in half a surrogate pair, which UTF-8 cannot encode.
        out.append("\\u").append(hex(c >> 12)).append(hex(c >> 8)).append(hex(c >> 4)).append(hex(c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  private static char hex(int digit) {
    return Character.forDigit(digit & 15, 16);
  }
}
