/**
 * The `memory` engine, which is the reference: a commit is durable as soon as it is applied. Tests
 * and simulations run on it, and the other engines are compared with it.
 */
import { SystemClock, type Clock, type Logger, type Random } from '#base'
import type { RetentionOptions } from './history.ts'
import { LocalStore } from './local-store.ts'
import type { Store } from './store.ts'
import { NoJournal } from './writer.ts'

interface MemoryStoreOptions extends RetentionOptions {
  /**
   * @default the clock of this machine
   */
  clock?: Clock
  random?: Random
  log?: Logger
}

/** Opens a store that exists only as long as the process. */
export function openMemoryStore({
  clock = new SystemClock(),
  random,
  log,
  ...retention
}: MemoryStoreOptions = {}): Store {
  return new LocalStore({ clock, journal: new NoJournal(), retention, random, log })
}
