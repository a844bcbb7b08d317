/**
 * Command line flags as in Go's pflag (`--name=value`, `--name value`, `--switch`, `-v=2`), and the flags of `kube-apiserver`.
 *
 * An unknown flag is no error: other releases have other flags, and a test suite that sets one should still run. Its name
 * is returned for a warning. Arguments that belong to no flag are returned too.
 *
 * The tables contain every flag that envtest passes. `insecure-port` must not be in a table: envtest searches for it in
 * `--help` and uses it if it is there.
 */

/** One value, several values (`a,b` or the repeated flag), or a switch such as `--help`. */
type FlagArity = 'value' | 'values' | 'switch'

interface FlagEntry {
  readonly takes: FlagArity
  /** A line for `--help`. */
  readonly help: string
}

export type FlagTable = Readonly<Record<string, FlagEntry>>

export interface Flags {
  /** The last value; undefined if the flag is not set. */
  value(name: string): string | undefined
  /** All values, in order. */
  values(name: string): readonly string[]
  /** Whether a switch is on. */
  isOn(name: string, fallback?: boolean): boolean
  /** Names of flags that are not in the table. */
  readonly unknown: readonly string[]
  /** Arguments that belong to no flag. */
  readonly rest: readonly string[]
}

const flagText = /^--?(\w[\w.-]*)(?:=(.*))?$/s
const switchValues: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((value) => [value, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((value) => [value, false] as const),
])

/**
 * Reads a command line.
 *
 * @throws {RangeError} for a missing value, or a switch with a value other than true or false.
 */
export function readFlags(args: readonly string[], table: FlagTable): Flags {
  const valuesByName = new Map<string, string[]>()
  const unknown = new Set<string>()
  const rest: string[] = []
  for (let index = 0; index < args.length; index++) {
    const [, name, inline] = flagText.exec(args[index] ?? '') ?? []
    if (name === undefined) {
      rest.push(args[index] ?? '')
      continue
    }
    const entry = Object.hasOwn(table, name) ? table[name] : undefined
    if (!entry) unknown.add(name)
    const separate = inline === undefined && takesNext(entry, args[index + 1])
    const value = separate ? args[++index] : inline
    valuesByName.set(name, [...(valuesByName.get(name) ?? []), ...checked(name, value, entry)])
  }
  return {
    value: (name) => valuesByName.get(name)?.at(-1),
    values: (name) => valuesByName.get(name) ?? [],
    isOn: (name, fallback = false) => switchValues.get(valuesByName.get(name)?.at(-1) ?? '') ?? fallback,
    unknown: [...unknown],
    rest,
  }
}

/** One line for each flag, starting with its name: envtest searches there. */
export function helpOf(table: FlagTable): string {
  const width = Math.max(...Object.keys(table).map((name) => name.length))
  return Object.entries(table)
    .map(([name, { help: text }]) => `  --${name.padEnd(width)}  ${text}\n`)
    .join('')
}

/** An unknown flag takes the next argument as its value if that is no flag. */
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
  return entry.takes === 'values' ? value.split(',').filter((value) => value !== '') : [value]
}

/** Supported flags of `kube-apiserver`. */
export const apiServerFlags = {
  'anonymous-auth': { takes: 'switch', help: 'allow requests without credentials as system:anonymous (default true)' },
  'api-audiences': { takes: 'values', help: 'audiences of service account tokens (default the issuers)' },
  'audit-policy-file': { takes: 'value', help: 'the policy of the audit log, in YAML' },
  'audit-log-path': { takes: 'value', help: 'file of the audit log, - for standard output' },
  'authorization-mode': {
    takes: 'values',
    help: 'ordered authorization modes: RBAC, AlwaysAllow, AlwaysDeny (default RBAC)',
  },
  'bind-address': { takes: 'value', help: 'the address to listen on (default 127.0.0.1)' },
  'cert-dir': {
    takes: 'value',
    help: 'directory of apiserver.crt and apiserver.key, which are created if they do not exist',
  },
  'client-ca-file': { takes: 'value', help: 'CA certificates for client certificates' },
  'disable-admission-plugins': { takes: 'values', help: 'admission plugins not to run' },
  'enable-admission-plugins': { takes: 'values', help: 'admission plugins to run beside the default ones' },
  'feature-gates': { takes: 'values', help: 'CBORServingAndStorage=true; other gates have no effect' },
  help: { takes: 'switch', help: 'print this help' },
  'max-mutating-requests-inflight': { takes: 'value', help: 'maximum number of writes in flight (default 200)' },
  'max-requests-inflight': { takes: 'value', help: 'maximum number of reads in flight (default 400)' },
  'request-timeout': { takes: 'value', help: 'timeout of a request (default 1m0s)' },
  'requestheader-allowed-names': {
    takes: 'values',
    help: 'allowed common names of proxies (default all that the CA signed)',
  },
  'proxy-client-cert-file': { takes: 'value', help: 'client certificate for aggregated API servers' },
  'proxy-client-key-file': { takes: 'value', help: 'key of the client certificate for aggregated API servers' },
  'requestheader-client-ca-file': {
    takes: 'value',
    help: 'CA certificate of proxies that authenticate users with X-Remote- headers',
  },
  'requestheader-extra-headers-prefix': {
    takes: 'values',
    help: 'prefixes of headers with extra values (default X-Remote-Extra-)',
  },
  'requestheader-group-headers': { takes: 'values', help: 'headers with the groups (default X-Remote-Group)' },
  'requestheader-uid-headers': { takes: 'values', help: 'headers with the uid (default X-Remote-Uid)' },
  'requestheader-username-headers': { takes: 'values', help: 'headers with the user name (default X-Remote-User)' },
  'secure-port': { takes: 'value', help: 'the port to listen on (default 6443)' },
  'service-account-extend-token-expiration': {
    takes: 'switch',
    help: 'extend tokens that are mounted into pods to one year (default true)',
  },
  'service-account-issuer': {
    takes: 'values',
    help: 'accepted issuers of service account tokens; the first one is used for new tokens',
  },
  'service-account-jwks-uri': { takes: 'value', help: 'URI of the JSON Web Key Set' },
  'service-account-key-file': { takes: 'values', help: 'keys that verify service account tokens' },
  'service-account-max-token-expiration': { takes: 'value', help: 'maximum validity of a token (default unlimited)' },
  'service-account-signing-key-file': { takes: 'value', help: 'key that signs service account tokens' },
  'service-cluster-ip-range': {
    takes: 'values',
    help: 'ranges of cluster IPs, one of each family (default 10.0.0.0/24)',
  },
  'tls-cert-file': { takes: 'value', help: 'serving certificate' },
  'tls-private-key-file': { takes: 'value', help: 'key of the serving certificate' },
  'token-auth-file': { takes: 'value', help: 'bearer tokens: token,user,uid,"group1,group2"' },
  v: { takes: 'value', help: 'log level: 0 warnings, 2 info, 4 debug (default 0)' },
  version: { takes: 'switch', help: 'print the Kubernetes version of the API' },
} as const satisfies FlagTable

/** Flags without effect: there is no etcd and no pod network. */
const silentFlags = {
  'advertise-address': { takes: 'value', help: 'no effect' },
  'allow-privileged': { takes: 'switch', help: 'no effect' },
  'etcd-servers': { takes: 'values', help: 'no effect: objects are kept in memory' },
  'runtime-config': { takes: 'values', help: 'no effect' },
} as const satisfies FlagTable

export const allApiServerFlags: FlagTable = { ...apiServerFlags, ...silentFlags }

/** Resolves with the first SIGINT, SIGTERM or SIGHUP. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve)
  })
}

/** Runs a program and exits. An error is printed without a stack, because it is about flags and files. */
export async function exitWith(program: Promise<number>): Promise<never> {
  let code = 1
  try {
    code = await program
  } catch (error) {
    process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`)
  }
  // Open connections must not keep the process alive.
  process.exit(code)
}
