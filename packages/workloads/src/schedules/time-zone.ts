/**
 * Time zones by their names in the IANA database, as the runtime knows them.
 *
 * Worked example: the offset of Europe/Berlin is 3,600,000 ms in January and 7,200,000 ms in July.
 */

const known = new Map<string, TimeZone>()
const minuteMs = 60_000

export class TimeZone {
  readonly #format: Intl.DateTimeFormat
  /** The last answer: the same instant is asked for several times in a row. */
  #last = { atMs: NaN, offsetMs: 0 }

  private constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  }

  /** Undefined for a name that is not in the database. */
  static find(name: string): TimeZone | undefined {
    const found = known.get(name)
    if (found) return found
    try {
      const zone = new TimeZone(name)
      known.set(name, zone)
      return zone
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

  /** How far its wall clock is ahead of UTC. */
  offsetMs(atMs: number): number {
    if (this.#last.atMs === atMs) return this.#last.offsetMs
    const text = this.#format.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign, hours = '0', minutes = '0'] = /([+-])(\d\d):(\d\d)/.exec(text) ?? []
    const offsetMs = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * minuteMs
    this.#last = { atMs, offsetMs }
    return offsetMs
  }
}
