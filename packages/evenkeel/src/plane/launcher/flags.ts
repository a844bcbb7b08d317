/**
 * Command lines in the manner of Go's pflag: `--name=value`, `--name value`, `--switch`, `-v=2`.
 *
 * A flag that is not in the table is no mistake: other releases have other flags, and a test suite that sets one should
 * still run. It is given back by name, for a warning. Words that belong to no flag are given back too.
 */

/** What a flag takes: one value, values that add up (`a,b` or the flag again), or nothing, as in `--help`. */
type FlagArity = 'value' | 'values' | 'switch'

interface FlagEntry {
  readonly takes: FlagArity
  /** A line for `--help`. */
  readonly help: string
}

export type FlagTable = Readonly<Record<string, FlagEntry>>

export interface Flags {
  /** The last value given; undefined when there was none. */
  value(name: string): string | undefined
  /** All values given, in order. */
  values(name: string): readonly string[]
  /** Whether a switch is on. */
  isOn(name: string, fallback?: boolean): boolean
  /** Names of flags that the table has not. */
  readonly unknown: readonly string[]
  /** Words that belong to no flag. */
  readonly rest: readonly string[]
}

const flagText = /^--?(\w[\w.-]*)(?:=(.*))?$/s
const switchValues: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false] as const),
])

/**
 * Reads a command line.
 *
 * @throws {RangeError} when a flag that needs a value has none, or a switch has one that is neither true nor false.
 */
export function readFlags(args: readonly string[], table: FlagTable): Flags {
  const given = new Map<string, string[]>()
  const unknown = new Set<string>()
  const rest: string[] = []
  for (let at = 0; at < args.length; at++) {
    const [, name, inline] = flagText.exec(args[at] ?? '') ?? []
    if (name === undefined) {
      rest.push(args[at] ?? '')
      continue
    }
    const entry = Object.hasOwn(table, name) ? table[name] : undefined
    if (!entry) unknown.add(name)
    const separate = inline === undefined && takesNext(entry, args[at + 1])
    const value = separate ? args[++at] : inline
    given.set(name, [...(given.get(name) ?? []), ...checked(name, value, entry)])
  }
  return {
    value: (name) => given.get(name)?.at(-1),
    values: (name) => given.get(name) ?? [],
    isOn: (name, fallback = false) => switchValues.get(given.get(name)?.at(-1) ?? '') ?? fallback,
    unknown: [...unknown],
    rest,
  }
}

/** The names, each at the start of a line: this is where envtest looks for them. */
export function helpOf(table: FlagTable): string {
  const width = Math.max(...Object.keys(table).map((name) => name.length))
  return Object.entries(table)
    .map(([name, { help: says }]) => `  --${name.padEnd(width)}  ${says}\n`)
    .join('')
}

/** What nobody knows is taken to have a value if a word follows that is no flag. */
function takesNext(entry: FlagEntry | undefined, next: string | undefined): boolean {
  if (entry?.takes === 'switch') return false
  return entry ? next !== undefined : next !== undefined && !next.startsWith('-')
}

function checked(name: string, value: string | undefined, entry: FlagEntry | undefined): string[] {
  if (!entry) return [value ?? '']
  if (entry.takes === 'switch') {
    if (value !== undefined && !switchValues.has(value))
      throw new RangeError(`--${name} must be true or false, got ${JSON.stringify(value)}`)
    return [value ?? 'true']
  }
  if (value === undefined) throw new RangeError(`--${name} needs a value`)
  return entry.takes === 'values' ? value.split(',').filter((word) => word !== '') : [value]
}
