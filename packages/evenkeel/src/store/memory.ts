/**
 * The reference engine: everything in memory, durable as soon as it is made. Tests and
 * simulations run on it, and the other engines are compared with it.
 */
import { SystemClock, type Clock, type Logger, type Random } from '#base'
import type { RetentionOptions } from './history.ts'
import { LocalStore } from './local-store.ts'
import type { Store } from './store.ts'
import { NoJournal } from './writer.ts'

export interface MemoryStoreOptions extends RetentionOptions {
  /**
   * @default the clock of this machine
   */
  clock?: Clock
  random?: Random
  log?: Logger
}

/** A store that is gone when the process is. */
export function openMemoryStore({
  clock = new SystemClock(),
  random,
  log,
  ...retention
}: MemoryStoreOptions = {}): Store {
  return new LocalStore({ clock, journal: new NoJournal(), retention, random, log })
}
