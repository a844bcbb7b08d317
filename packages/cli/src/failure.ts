/**
 * What went wrong, for the person who typed the command: a code to search for, one sentence, and what to try.
 */
import { isApiError } from 'evenkeel/unstable/api'
import { isConfigError, isConnectionError, isUnknownKind } from 'evenkeel/client'

type FailureCode = keyof typeof failureCodes

interface FailureOptions extends ErrorOptions {
  /** What to do about it. */
  readonly hint?: string | undefined
}

export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: FailureCode
  readonly hint: string | undefined

  constructor(code: FailureCode, message: string, { hint, ...options }: FailureOptions = {}) {
    super(message, options)
    this.code = code
    this.hint = hint
  }

  /** 2 for what was not understood, be it words or files, as shells have it; 1 for everything else. */
  get exitCode(): number {
    return this.code === 'usage' || this.code === 'bad-file' ? 2 : 1
  }
}

/** The failure behind an error; undefined for a mistake in our own code, which is better shown with its stack. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error
  if (!(error instanceof Error)) return undefined
  if (isConfigError(error))
    return new Failure('no-server', oneLine(error.message), { cause: error, hint: 'evenkeel up, or set KUBECONFIG' })
  if (isConnectionError(error))
    return new Failure('no-server', oneLine(error.message), {
      cause: error,
      hint: 'evenkeel doctor says what is wrong; evenkeel up starts a server',
    })
  if (isUnknownKind(error))
    return new Failure('unknown-kind', oneLine(error.message), {
      cause: error,
      hint: 'evenkeel get --help says how kinds are named; evenkeel doctor lists what is installed',
    })
  if (isApiError(error)) return ofApi(error)
  return ofSystem(error)
}

function ofApi(error: Error & { readonly reason: string }): Failure {
  const message = oneLine(error.message)
  switch (error.reason) {
    case 'Unauthorized':
      return new Failure('not-let-in', message, {
        cause: error,
        hint: 'the token or certificate of the kubeconfig may have expired',
      })
    case 'Forbidden':
      return new Failure('not-allowed', message, { cause: error, hint: 'evenkeel doctor says who you are' })
    case 'NotFound':
      return new Failure('not-found', message, { cause: error })
    default:
      return new Failure('refused', message, { cause: error })
  }
}

function ofSystem(error: NodeJS.ErrnoException & { readonly port?: number }): Failure | undefined {
  const { code, path = '', message } = error
  if (code === 'EADDRINUSE')
    return new Failure('busy', `port ${error.port ?? ''} is taken`, {
      cause: error,
      hint: 'stop what uses it, or choose another with --port',
    })
  if (code === 'ENOENT' || code === 'EISDIR' || code === 'EACCES' || code === 'EROFS' || code === 'ENOSPC')
    return new Failure('bad-file', path === '' ? oneLine(message) : `${path}: ${oneLine(message)}`, { cause: error })
  if (error.name === 'StoreError' || error.name === 'IdentityError')
    return new Failure('busy', oneLine(message), { cause: error })
  return undefined
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}

/*
 * What failures are called. Codes never change their meaning; docs/guides/cli.md lists them, and a test keeps the list whole.
 */

/** Every code, with what it means. */
export const failureCodes = {
  usage: 'the command was not understood',
  'not-built': 'this clone was not built yet',
  'no-server': 'no server is configured, or none answers',
  'not-let-in': 'the server does not know who asks',
  'not-allowed': 'the server knows who asks and refuses',
  'not-found': 'there is no such object',
  'unknown-kind': 'the server does not have such a kind',
  refused: 'the server refused the request',
  'bad-file': 'a file could not be read or understood',
  busy: 'a port or a folder is taken',
} as const
