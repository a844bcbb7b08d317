/**
 * A failure of a command, for the person who typed it: a code to search for, one sentence, and a hint.
 *
 * Codes never change their meaning. docs/guides/cli.md lists them, and a test keeps the list complete.
 */
import { isApiError } from 'evenkeel/unstable/api'
import { isConfigError, isConnectionError, isUnknownKind } from 'evenkeel/client'

type FailureCode = keyof typeof failureCodes

interface FailureOptions extends ErrorOptions {
  /** What to do; several are printed one per line. */
  readonly hint?: string | readonly string[] | undefined
}

export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: FailureCode
  readonly hints: readonly string[]

  constructor(code: FailureCode, message: string, { hint, ...options }: FailureOptions = {}) {
    super(message, options)
    this.code = code
    this.hints = hint === undefined ? [] : typeof hint === 'string' ? [hint] : hint
  }

  /** 2 for wrong usage or a wrong file, as in shells; 1 for everything else. */
  get exitCode(): number {
    return this.code === 'usage' || this.code === 'bad-file' ? 2 : 1
  }
}

/** The failure of an error; undefined for a bug of this program, which is printed with its stack. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error
  if (!(error instanceof Error)) return undefined
  if (isConfigError(error))
    return new Failure('no-server', oneLine(error.message), { cause: error, hint: 'evenkeel up, or set KUBECONFIG' })
  if (isConnectionError(error))
    return new Failure('no-server', oneLine(error.message), {
      cause: error,
      hint: 'evenkeel doctor checks the connection; evenkeel up starts a server',
    })
  if (isUnknownKind(error))
    return new Failure('unknown-kind', oneLine(error.message), {
      cause: error,
      hint: 'evenkeel get --help explains the names of kinds; evenkeel doctor lists the installed kinds',
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
      return new Failure('not-allowed', message, {
        cause: error,
        hint: 'evenkeel doctor prints your user name and groups',
      })
    case 'NotFound':
      return new Failure('not-found', message, { cause: error })
    default:
      return new Failure('refused', message, { cause: error })
  }
}

function ofSystem(error: NodeJS.ErrnoException & { readonly port?: number }): Failure | undefined {
  const { code, path = '', message } = error
  if (code === 'EADDRINUSE')
    return new Failure('busy', `port ${error.port ?? ''} is in use`, {
      cause: error,
      hint: 'stop the program that uses it, or choose another port with --port',
    })
  if (code === 'EMFILE' || code === 'ENFILE')
    return new Failure('busy', 'too many open files', {
      cause: error,
      hint: 'raise the limit, for instance with ulimit -n 1024',
    })
  if (code === 'ENOENT' || code === 'EISDIR' || code === 'EACCES' || code === 'EROFS' || code === 'ENOSPC')
    return new Failure('bad-file', path === '' ? oneLine(message) : `${path}: ${oneLine(message)}`, { cause: error })
  // An option of the server that it does not accept: the message names it.
  if (error instanceof RangeError && /^\w+ must be /.test(message))
    return new Failure('usage', message, { cause: error })
  if (error.name === 'StoreError' || error.name === 'IdentityError' || error.name === 'SchemaChangeError')
    return new Failure('busy', oneLine(message), { cause: error })
  return undefined
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}

/** Every code and its meaning. */
export const failureCodes = {
  usage: 'the command line is wrong',
  'not-built': 'this clone is not built yet',
  'no-server': 'no server is configured, or it does not respond',
  'not-let-in': 'the server does not accept the credentials',
  'not-allowed': 'the user has no permission',
  'not-found': 'the object does not exist',
  'unknown-kind': 'the server does not serve this kind',
  timeout: 'the objects did not reach the awaited state in time',
  refused: 'the server refused the request',
  'bad-file': 'a file cannot be read or parsed',
  busy: 'a port or a data folder is in use, or there are too many open files',
} as const
