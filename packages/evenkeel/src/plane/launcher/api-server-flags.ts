/**
 * The flags of `kube-apiserver` that mean something here, and those that are taken without a word.
 *
 * What envtest passes to every server is in one of the two; everything else is answered with a warning. `insecure-port`
 * must stay out: envtest looks for it in `--help` and uses it where it is named.
 */
import type { FlagTable } from './flags.ts'

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
