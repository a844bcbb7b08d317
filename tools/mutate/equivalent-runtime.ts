/**
 * Equivalent mutants of the layers controller, manager and verbs.
 */
import type { Equivalent } from './equivalent.ts'

export const runtimeEquivalents: readonly Equivalent[] = [
  {
    file: 'controller/hot-loops.ts',
    original: 'this.#suspects.size > 0',
    mutated: 'this.#suspects.size >= 0',
    because: 'a fast path: `suspects` of an empty map is false for every key as well',
  },
  {
    file: 'controller/kind-source.ts',
    original: 'false',
    mutated: 'true',
    line: '#failing = false',
    because: 'a fast path: the back-off forgets a key that it does not have, which changes nothing',
  },
  {
    file: 'controller/declaration.ts',
    original: '1',
    mutated: '(1 + 1)',
    line: 'concurrency = 1,',
    because: 'checkDeclaration only checks that the number is valid, and 2 is as valid as 1',
  },
]
