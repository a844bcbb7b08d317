/**
 * A request without a response: not reachable, not trusted, cut off, too slow.
 *
 * A refusal of the server is an `ApiError`; this is an error before there is a response, or when one breaks off. The
 * message is one line with the address, the cause and what to do. Recognised by a registered symbol, so errors of another
 * copy of this package count as well.
 */

/**
 * What went wrong:
 *
 * - `refused`: no process listens there. Nothing was sent.
 * - `name`: the host name cannot be resolved. Nothing was sent.
 * - `certificate`: one side does not trust the other's certificate. Nothing was sent.
 * - `proxy`: the proxy refused the connection. Nothing was sent.
 * - `connect`: no connection in time, or no route. Nothing was sent.
 * - `reset`: cut off while waiting or reading. A write may or may not have happened.
 * - `timeout`: no response in time. A write may or may not have happened.
 * - `garbled`: the response is not a valid one.
 */
export type ConnectionProblem =
  | 'refused'
  | 'name'
  | 'certificate'
  | 'proxy'
  | 'connect'
  | 'reset'
  | 'timeout'
  | 'garbled'

interface ConnectionErrorOptions {
  readonly problem: ConnectionProblem
  /** The server: `https://127.0.0.1:6443`; absent in process. */
  readonly address?: string | undefined
  readonly cause?: unknown
}

const brand = Symbol.for('evenkeel.ConnectionError')

export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly problem: ConnectionProblem
  readonly address: string | undefined

  constructor(message: string, { problem, address, cause }: ConnectionErrorOptions) {
    super(message, cause === undefined ? undefined : { cause })
    this.problem = problem
    this.address = address
  }

  get [brand](): true {
    return true
  }
}

/** Whether something thrown is a {@link ConnectionError}, of this or another copy of the package; of this problem, if one is given. */
export function isConnectionError(error: unknown, problem?: ConnectionProblem): error is ConnectionError {
  const isOurs = typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true
  return isOurs && (problem === undefined || (error as ConnectionError).problem === problem)
}

interface Meaning {
  readonly problem: ConnectionProblem
  readonly what: string
  readonly advice: string
}

/** The connection error for an error of a socket, a name service, TLS or a proxy. */
export function toConnectionError(error: unknown, address: string): ConnectionError {
  const { problem, what, advice } = meaningOf(error)
  const verb = problem === 'reset' ? 'the connection to' : 'cannot connect to'
  const message = problem === 'reset' ? `${verb} ${address} was cut off: ${what}` : `${verb} ${address}: ${what}`
  return new ConnectionError(advice === '' ? message : `${message}; ${advice}`, { problem, address, cause: error })
}

const meanings: Readonly<Record<string, Meaning>> = {
  ECONNREFUSED: {
    problem: 'refused',
    what: 'connection refused',
    advice: 'is the server running, and is this its address?',
  },
  ENOTFOUND: { problem: 'name', what: 'no such host', advice: 'check the server address of the kubeconfig' },
  EAI_AGAIN: {
    problem: 'name',
    what: 'the host name cannot be resolved now',
    advice: 'check the network and the name service',
  },
  ENETUNREACH: { problem: 'connect', what: 'network unreachable', advice: 'check the network' },
  EHOSTUNREACH: { problem: 'connect', what: 'no route to host', advice: 'check the network' },
  ETIMEDOUT: { problem: 'connect', what: 'no answer', advice: 'check the network and firewalls' },
  UND_ERR_CONNECT_TIMEOUT: { problem: 'connect', what: 'no answer in time', advice: 'check the network and firewalls' },
  CERT_HAS_EXPIRED: certificate('the certificate of the server has expired', 'renew it'),
  CERT_NOT_YET_VALID: certificate('the certificate of the server is not valid yet', 'check the clocks of both sides'),
  ERR_TLS_CERT_ALTNAME_INVALID: certificate(
    'the certificate of the server is for another name',
    'use a name it has, or set tls-server-name',
  ),
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: certificate(
    'the server wants a client certificate',
    'give the user of the kubeconfig one',
  ),
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: certificate(
    'the server does not accept our client certificate',
    'check the user of the kubeconfig',
  ),
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: certificate('our client certificate has expired', 'renew it'),
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: certificate(
    'the server does not know the authority of our client certificate',
    'check the user of the kubeconfig',
  ),
  ERR_SSL_WRONG_VERSION_NUMBER: {
    problem: 'connect',
    what: 'the server does not speak TLS',
    advice: 'is its address an http one?',
  },
  ERR_SSL_PACKET_LENGTH_TOO_LONG: {
    problem: 'connect',
    what: 'the server does not speak TLS',
    advice: 'is its address an http one?',
  },
}

const unknownAuthority: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
])

function meaningOf(error: unknown): Meaning {
  const [code, message] = reasonOf(error)
  const known = Object.hasOwn(meanings, code) ? meanings[code] : undefined
  if (known) return known
  if (unknownAuthority.has(code))
    return certificate(
      'the certificate of the server is signed by an unknown authority',
      'give the cluster of the kubeconfig its certificate-authority',
    )
  if (/proxy/i.test(message)) return { problem: 'proxy', what: message, advice: 'check proxy-url and HTTPS_PROXY' }
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_OSSL'))
    return certificate(message.split(':').slice(-1).join('').trim() || message, 'check certificates on both sides')
  return { problem: 'reset', what: message, advice: '' }
}

/** Several addresses of one name fail together; the first failure is reported. */
function reasonOf(error: unknown): [code: string, message: string] {
  const own = error as { code?: unknown; message?: unknown; errors?: readonly unknown[]; cause?: unknown } | null
  if (own?.errors?.[0] !== undefined) return reasonOf(own.errors[0])
  const code = typeof own?.code === 'string' ? own.code : ''
  if ((code === '' || code === 'UND_ERR_SOCKET') && own?.cause !== undefined) return reasonOf(own.cause)
  return [code, typeof own?.message === 'string' && own.message !== '' ? own.message : code || 'no reason given']
}

function certificate(what: string, advice: string): Meaning {
  return { problem: 'certificate', what, advice }
}
