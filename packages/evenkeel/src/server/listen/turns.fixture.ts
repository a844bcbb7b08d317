/**
 * Waiting for sockets without waiting for time: turns of the event loop.
 */
import { SimulatedClock, SystemClock } from '#base'

const clock = new SystemClock()

/** Time is simulated; turns are those of the sockets. */
export class SocketClock extends SimulatedClock {
  override soon(callback: () => void): void {
    clock.soon(callback)
  }
}

export function turn(): Promise<void> {
  return new Promise((resolve) => {
    clock.soon(resolve)
  })
}

/** Checks again after each turn. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await turn()
}

/** False after enough turns for all loopback traffic to settle. */
export async function quiet(): Promise<false> {
  for (let turns = 0; turns < 3000; turns++) await turn()
  return false
}
