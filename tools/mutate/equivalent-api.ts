/**
 * Equivalent mutants of the layer api, each with the reason.
 */
import type { Equivalent } from './equivalent.ts'

export const apiEquivalents: readonly Equivalent[] = [
  {
    file: 'api/apply/track-update.ts',
    original: 'index < read.length',
    mutated: 'index <= read.length',
    because: 'Beyond the end there is no entry, and its missing identity equals none.',
  },
  {
    file: 'api/apply/track-update.ts',
    original: 'updaters.length <= updatersMax',
    mutated: 'updaters.length < updatersMax',
    because: 'With exactly as many entries as allowed there is no excess, and nothing is merged.',
  },
  {
    file: 'api/apply/update-cache.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'reduce((paths',
    because: 'The limit up to which updates are cached; an update that is not cached has the same result.',
  },
  {
    file: 'api/apply/ownership.ts',
    original: 'isKeyElement(element) ? keyFields(element).map(([name]) => name) : undefined',
    mutated: 'undefined',
    because: 'A faster way to an item by its keys: without their names, `isItem` and `onlyIndex` find the same one.',
  },
  {
    file: 'api/crd/json-schema-props.ts',
    original: 'token === undefined',
    mutated: '!(token === undefined)',
    line: 'expected ] but got',
    because:
      'Which sentence it is does not matter: where brackets are allowed, only the existence of an error is used.',
  },
  {
    file: 'api/rules/check.ts',
    original: '1',
    mutated: '(1 + 1)',
    line: 'const isTie',
    because:
      'A further binary digit makes the scaled number a multiple of a quarter, which is no half; and of ties only those after an even number count, whose rest by 2 is a half as well.',
  },
  {
    file: 'api/patterns.ts',
    original: 'compiled.set(pattern, made)',
    mutated: 'undefined',
    because: 'A cache: without it the pattern is compiled again.',
  },
  {
    file: 'api/schema/address-formats.ts',
    original: 'end >= 0',
    mutated: 'end > 0',
    because: 'The text begins with `[`, so a `]` is never at position 0.',
  },
]
