// The empty key has no words, `.` has two empty ones.
function wordsOf(key: string): readonly string[] {
  return key === '' ? [] : key.split('.');
}

/** Whether a routing key matches a pattern of a topic exchange: `*` is one word, `#` zero or more. */
export function matchesTopic(pattern: string, routingKey: string): boolean {
  return matchesWords(wordsOf(pattern), wordsOf(routingKey));
}

// As many words as the last `#` takes are tried; an earlier one need not be tried again.
function matchesWords(pattern: readonly string[], words: readonly string[]): boolean {
  let at = 0;
  let word = 0;
  let hash = -1;
  let taken = 0;
  while (word < words.length) {
    const wanted = pattern[at];
    if (wanted === '#') {
      hash = at;
      taken = word;
      at += 1;
    } else if (wanted === '*' || wanted === words[word]) {
      at += 1;
      word += 1;
    } else if (hash >= 0) {
      taken += 1;
      word = taken;
      at = hash + 1;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every((rest) => rest === '#');
}
