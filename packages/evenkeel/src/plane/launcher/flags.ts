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

/*
 * The flags of `kube-apiserver` that mean something here, and those that are taken without a word.
 *
 * What envtest passes to every server is in one of the two; everything else is answered with a warning. `insecure-port`
 * must stay out: envtest looks for it in `--help` and uses it where it is named.
 */

/** Flags that are obeyed. */
export const apiServerFlags = {
  'anonymous-auth': { takes: 'switch', help: 'let callers without credentials in as system:anonymous (default true)' },
  'api-audiences': { takes: 'values', help: 'for whom tokens of service accounts are (default the issuers)' },
  'audit-log-path': { takes: 'value', help: 'write down every call there, - for standard output' },
  'authorization-mode': {
    takes: 'values',
    help: 'who decides what callers may do: RBAC, AlwaysAllow, AlwaysDeny, in order (default RBAC)',
  },
  'bind-address': { takes: 'value', help: 'the address to listen on (default 127.0.0.1)' },
  'cert-dir': {
    takes: 'value',
    help: 'the folder of apiserver.crt and apiserver.key; they are made if they are not there',
  },
  'client-ca-file': { takes: 'value', help: 'authorities whose client certificates are believed' },
  'enable-admission-plugins': {
    takes: 'values',
    help: 'OwnerReferencesPermissionEnforcement; the others are always on or not there',
  },
  help: { takes: 'switch', help: 'say this' },
  'max-mutating-requests-inflight': { takes: 'value', help: 'how many writes may be under way (default 200)' },
  'max-requests-inflight': { takes: 'value', help: 'how many reads may be under way (default 400)' },
  'request-timeout': { takes: 'value', help: 'how long a request may take (default 1m0s)' },
  'requestheader-allowed-names': {
    takes: 'values',
    help: 'common names of proxies (default every one that the authority signed)',
  },
  'requestheader-client-ca-file': {
    takes: 'value',
    help: 'the authority of proxies that say in X-Remote-... headers who is calling',
  },
  'secure-port': { takes: 'value', help: 'the port to listen on (default 6443)' },
  'service-account-extend-token-expiration': {
    takes: 'switch',
    help: 'tokens that are mounted into pods live for a year (default true)',
  },
  'service-account-issuer': {
    takes: 'values',
    help: 'what tokens of service accounts name as their issuer; the first is written',
  },
  'service-account-jwks-uri': { takes: 'value', help: 'where others find the public keys' },
  'service-account-key-file': { takes: 'values', help: 'keys whose tokens are believed' },
  'service-account-max-token-expiration': { takes: 'value', help: 'the longest life of a token (default no limit)' },
  'service-account-signing-key-file': { takes: 'value', help: 'the key that signs tokens' },
  'tls-cert-file': { takes: 'value', help: 'the certificate to serve with' },
  'tls-private-key-file': { takes: 'value', help: 'its key' },
  'token-auth-file': { takes: 'value', help: 'bearer tokens: token,user,uid,"group1,group2"' },
  v: { takes: 'value', help: 'how much to say: 0 is warnings, 2 is more, 4 is all (default 0)' },
  version: { takes: 'switch', help: 'say which release of the API this is' },
} as const satisfies FlagTable

/** Flags that have nothing to say to: there is no etcd behind us, no network of pods, no plugin to leave out. */
const silentFlags = {
  'advertise-address': { takes: 'value', help: 'taken, without effect' },
  'allow-privileged': { takes: 'switch', help: 'taken, without effect' },
  'disable-admission-plugins': { takes: 'values', help: 'taken, without effect' },
  'etcd-servers': { takes: 'values', help: 'taken, without effect: objects are kept in the memory of this process' },
  'feature-gates': { takes: 'values', help: 'taken, without effect' },
  'runtime-config': { takes: 'values', help: 'taken, without effect' },
  'service-cluster-ip-range': { takes: 'value', help: 'taken, without effect' },
} as const satisfies FlagTable

export const allApiServerFlags: FlagTable = { ...apiServerFlags, ...silentFlags }

/*
 * A program that runs until it is told to stop, and then ends at once.
 */

/** Resolves with the first signal that asks the process to end. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve)
  })
}

/** Runs a program; what it throws is told in one line, without a stack: it is about flags and files. */
export async function exitWith(program: Promise<number>): Promise<never> {
  let code = 1
  try {
    code = await program
  } catch (error) {
    process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`)
  }
  // Connections that others keep open must not keep a process that was told to go.
  process.exit(code)
}
