/**
 * Notices what leaves the simulation: the machine's own timers, its clock, its chance, its network, its end.
 *
 * A program that takes them is not controlled any more, so its schedules are not the same twice. Timers, time and chance
 * are given from the simulation all the same, so that the rest can go on; that they were taken is told once for each
 * place.
 */
import { randomFraction, overrideGlobals } from '#base'
import type { Random } from '#base'
import type { SimulatedProcess } from '../life/life.ts'
import { currentProcess } from '../life/life.ts'
import { originOf } from '../life/origin.ts'
import { watchResources } from './resources.ts'

export interface Escape {
  /** `setTimeout`, `Date`, `Math.random`, `fetch`, `process.exit` */
  readonly what: string
  /** `reconcile.ts:41` */
  readonly origin: string
}

interface GuardOptions {
  /** Whose code runs is followed: what is taken of the machine by other ways can be told as well. */
  readonly isFollowed: boolean
  readonly random: Random
  onEscape(escape: Escape): void
  /** A program ends the process. */
  onExit(life: SimulatedProcess | undefined, code: unknown): void
}

/** What is thrown in the place of the end of the process. */
class ProcessEnd extends Error {
  override readonly name = 'ProcessEnd'
}

/** @returns what ends the guard */
export function guardMachine({ isFollowed, random, onEscape, onExit }: GuardOptions): () => void {
  const told = new Set<string>()
  /** The life whose code is running, if it is the user's code and not ours. */
  const escaping = (what: string): SimulatedProcess | undefined => {
    const life = currentProcess()
    const origin = life && originOf({ direct: true })
    if (!life || origin === undefined) return undefined
    if (!told.has(`${what} ${origin}`)) onEscape({ what, origin })
    told.add(`${what} ${origin}`)
    return life
  }
  const stopWatching = isFollowed ? watchResources(escaping) : () => undefined
  const putBack = overrideGlobals({
    timer: (kind, delayMs, callback) => {
      const life = escaping(kind)
      if (!life) return undefined
      if (kind !== 'setInterval') return life.clock.after(delayMs, callback)
      let cancel = (): void => undefined
      const again = (): void => {
        cancel = life.clock.after(Math.max(delayMs, 1), () => {
          again()
          callback()
        })
      }
      again()
      return () => {
        cancel()
      }
    },
    now: () => escaping('Date')?.clock.now(),
    random: () => (escaping('Math.random') ? randomFraction(random) : undefined),
    fetch: () => {
      escaping('fetch')
    },
    exit: (code) => {
      onExit(currentProcess(), code)
      throw new ProcessEnd(`process.exit(${String(code)})`)
    },
  })
  return () => {
    putBack()
    stopWatching()
  }
}
