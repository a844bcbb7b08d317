/**
 * Equivalent mutants of the layers cache, controller, manager and verbs.
 */
import type { Equivalent } from './equivalent.ts'

export const runtimeEquivalents: readonly Equivalent[] = [
  {
    file: 'cache/watch-decoder.ts',
    original: `(
      scanned.type !== 'DELETED' &&
      gather.putListed(bytes, scanned, { namespace: this.#namespace, decoder: this.#decoder })
    )`,
    mutated: 'undefined',
    because: 'a compact way to keep a listed object: without it the same object is decoded and put',
  },
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
  {
    file: 'controller/run.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'attempt = 0',
    because: 'the gate of worker.ts sets it before the run gets a record, and nothing reads it without one',
  },
  {
    file: 'controller/run.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'rounds = 0',
    because: 'the gate of worker.ts sets it before anything reads it',
  },
  {
    file: 'controller/run.ts',
    original: 'false',
    mutated: 'true',
    line: 'isCleanup = false',
    because: 'only read of a run with an object, and reconcile.ts sets both in the same turn',
  },
  {
    file: 'controller/kind-source.ts',
    original: 'this.#waiting.clear()',
    mutated: 'undefined',
    because:
      'the timers are cancelled and the source is stopped: no event is enqueued any more, and the map is garbage',
  },
  {
    file: 'controller/ledger.ts',
    original: 'write.reconcileId === undefined || name === undefined',
    mutated: 'write.reconcileId === undefined && name === undefined',
    because: 'a fast path: the version of a write outside of a run is not used, and no cached object is without a name',
  },
  {
    file: 'controller/worker.ts',
    original: 'stopListening()',
    mutated: 'undefined',
    because:
      'processQueue ends when the signal has aborted, so the listener has been called, or when the queue is closed for good',
  },
  {
    file: 'controller/worker.ts',
    original: '0',
    mutated: 'undefined',
    line: 'if (!loop) return 0',
    because: 'its only caller asks whether the result is above 0',
  },
  {
    file: 'manager/cluster.ts',
    original: 'known.set(key, counter)',
    mutated: 'undefined',
    because: 'a cache: the family returns the same counter for the same labels',
  },
  {
    file: 'manager/manager-run.ts',
    original: 'stopListening()',
    mutated: 'undefined',
    line: '    stopListening()',
    because:
      'the listener resolves a promise that is resolved already, and the signal belongs to this run or term alone',
  },
  {
    file: 'manager/event-sink.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'while (end > 0 &&',
    because:
      'at most three bytes of UTF-8 are skipped from 128 or more, and the byte at the end exists in a longer text',
  },
  {
    file: 'manager/election/leader-election.ts',
    original: 'campaign.abort(signal.reason)',
    mutated: 'undefined',
    because: 'the listener of the same signal has aborted the campaign already, as there was no work then',
  },
  {
    file: 'manager/manager.ts',
    original: '30_000',
    mutated: '(30000 + 1)',
    line: 'gracePeriodMs = 30_000',
    because: 'the constructor only checks that the number is valid; manager-run.ts has the default that counts',
  },
]
