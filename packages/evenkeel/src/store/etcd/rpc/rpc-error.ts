/**
 * A call that did not work, and what that means for the call: whether the server may have
 * carried it out all the same, and whether to try it again.
 *
 * Invariant: a call is certain not to have happened only if the server said so in an answer that
 * it gives before it acts, or if nothing was sent. Everything else is uncertain.
 */
import type { IncomingHttpHeaders } from 'node:http2'
import { StoreError } from '../../store-error.ts'

/** The codes of gRPC, each at the place of its number. */
const codes = [
  'Ok',
  'Cancelled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const

type RpcCode = (typeof codes)[number]

/** An answer with one of these was given before the request was acted upon. */
const refusals: ReadonlySet<RpcCode> = new Set([
  'InvalidArgument',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'OutOfRange',
  'Unimplemented',
  'Unauthenticated',
])

/** What etcd says before it looks at a request, under a code that also stands for what goes wrong later. */
const refusedTexts = ['etcdserver: no leader', 'etcdserver: not capable', 'not supported for learner']

interface RpcErrorOptions {
  readonly isUncertain: boolean
  readonly cause?: unknown
}

export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: RpcCode
  /** The server may have done what it was asked. */
  readonly isUncertain: boolean

  constructor(code: RpcCode, message: string, { isUncertain, cause }: RpcErrorOptions) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.isUncertain = isUncertain
  }

  /** Another try, perhaps at another server, may go better. */
  get isPassing(): boolean {
    return (
      this.code === 'Unavailable' ||
      this.code === 'DeadlineExceeded' ||
      this.code === 'Cancelled' ||
      this.code === 'Internal' ||
      this.says('too many requests') ||
      this.isLoginOver
    )
  }

  /** The token is too old; log in again. */
  get isLoginOver(): boolean {
    return this.says('invalid auth token') || this.says('revision of auth store is old')
  }

  /** etcd tells its errors apart by their texts. */
  says(text: string): boolean {
    return this.message.includes(text)
  }
}

/** The error that trailers (or headers, when there is nothing else) speak of; nothing when all went well. */
export function errorOf(headers: IncomingHttpHeaders): RpcError | undefined {
  const status = Number(headers['grpc-status'] ?? 2)
  if (status === 0) return undefined
  const code = codes[status] ?? 'Unknown'
  const message = decodeText(String(headers['grpc-message'] ?? `HTTP status ${headers[':status']}`))
  return new RpcError(code, message, {
    isUncertain: !refusals.has(code) && !refusedTexts.some((text) => message.includes(text)),
  })
}

/** Nothing was sent, or it went nowhere. */
export function notSent(message: string, cause?: unknown): RpcError {
  return new RpcError('Unavailable', message, { isUncertain: false, cause })
}

/** The connection died under a call. */
export function broken(message: string, cause?: unknown): RpcError {
  return new RpcError('Unavailable', message, { isUncertain: true, cause })
}

/**
 * What the caller of the store is told about a failed call; anything but an {@link RpcError} stays as it is.
 *
 * @param what what was tried, to follow "etcd could not"
 */
export function toStoreError(error: unknown, what: string): unknown {
  if (!(error instanceof RpcError)) return error
  if (error.says('database space exceeded'))
    return new StoreError(
      'NoSpace',
      `etcd is full and could not ${what}; compact, defragment and clear its NOSPACE alarm, or raise its quota`,
      { cause: error },
    )
  if (error.says('request is too large') || error.says('larger than max'))
    return new StoreError(
      'TooLarge',
      `etcd takes no request this big and could not ${what}; write less at once, or raise its --max-request-bytes`,
      { cause: error },
    )
  if (error.code === 'PermissionDenied' || error.code === 'Unauthenticated')
    return new StoreError('Failed', `etcd did not let us ${what}: ${error.message}; check user, password and role`, {
      cause: error,
    })
  return new StoreError('Failed', `etcd could not ${what}: ${error.message}`, { cause: error })
}

/** gRPC writes what is not plain ASCII as %XX. */
function decodeText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
