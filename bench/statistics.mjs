// @ts-check

/**
 * The middle of the numbers; between the two middle ones where their count is even.
 *
 * @param {readonly number[]} numbers
 * @returns {number}
 */
export function median(numbers) {
  return percentile(numbers, 50);
}

/**
 * The number below which this percentage of the numbers lies, between two of them where it falls between them. NaN
 * where there is none.
 *
 * @param {readonly number[]} numbers
 * @param {number} percentage 0 to 100
 * @returns {number}
 */
export function percentile(numbers, percentage) {
  return percentileOfSorted(Float64Array.from(numbers).sort(), percentage);
}

/**
 * The ratios of two measurements, round by round: what one program reached in a round is divided by what the other one
 * reached in the same round. Rounds that only one of them has are left out.
 *
 * @param {readonly number[]} ofSubject
 * @param {readonly number[]} ofPeer
 * @returns {number[]}
 */
export function ratiosOf(ofSubject, ofPeer) {
  const rounds = Math.min(ofSubject.length, ofPeer.length);
  return Array.from(
    { length: rounds },
    (_, round) => Number(ofSubject[round]) / Number(ofPeer[round]),
  );
}

/** @typedef {{ middle: number, low: number, high: number }} Interval */

/**
 * The median with its 95 % interval: rounds are drawn again and again with repetition, and the interval holds the
 * middle 95 % of the medians of these draws. The same numbers always give the same interval.
 *
 * @param {readonly number[]} numbers
 * @param {number} [draws]
 * @returns {Interval}
 */
export function medianInterval(numbers, draws = 10_000) {
  const random = randomNumbers(numbers.length);
  const medians = new Float64Array(draws);
  const drawn = new Float64Array(numbers.length);
  for (let draw = 0; draw < draws; draw += 1) {
    for (let index = 0; index < drawn.length; index += 1) {
      drawn[index] = Number(numbers[Math.floor(random() * numbers.length)]);
    }
    medians[draw] = percentileOfSorted(drawn.sort(), 50);
  }
  medians.sort();
  return {
    middle: median(numbers),
    low: percentileOfSorted(medians, 2.5),
    high: percentileOfSorted(medians, 97.5),
  };
}

/** @typedef {{ atLeast: number } | { atMost: number }} Limit */
/** @typedef {'reached' | 'reached, interval crosses' | 'missed, interval crosses' | 'missed'} Verdict */

/**
 * Whether a target is reached: the middle decides; where the interval has values on either side of the limit, the
 * verdict says so.
 *
 * @param {Interval} interval
 * @param {Limit} limit
 * @returns {Verdict}
 */
export function verdictOf({ middle, low, high }, limit) {
  const holds = (/** @type {number} */ value) =>
    'atLeast' in limit ? value >= limit.atLeast : value <= limit.atMost;
  const verdict = holds(middle) ? 'reached' : 'missed';
  return holds(low) === holds(high) ? verdict : `${verdict}, interval crosses`;
}

/**
 * @param {Float64Array} sorted
 * @param {number} percentage
 * @returns {number}
 */
function percentileOfSorted(sorted, percentage) {
  const place = ((sorted.length - 1) * percentage) / 100;
  const below = Number(sorted[Math.floor(place)]);
  const above = Number(sorted[Math.ceil(place)]);
  return below + (above - below) * (place - Math.floor(place));
}

/**
 * Random numbers from 0 up to 1, the same ones for the same seed (xorshift).
 *
 * @param {number} seed
 * @returns {() => number}
 */
function randomNumbers(seed) {
  let state = (seed + 1) * 2_654_435_761;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
