/**
 * Why a program cannot be started, as a reason and a sentence that says what to change.
 *
 * The kernel has few words: ENOENT is a missing program, a missing working directory or a missing interpreter in the first
 * line of a script. So the files are looked at, in the order in which a person would.
 *
 *   reason               retried
 *   NotFound             when it exists
 *   NotExecutable        when it is executable
 *   IsDirectory          when it is a file
 *   WorkingDirectory…    when the directory exists and may be entered
 *   BadInterpreter       when the interpreter exists
 *   TextFileBusy         soon: the file is being written
 *   ProcessLimit         soon, and later and later: processes end
 *   OutOfMemory          the same
 *   ArgumentsTooLong     when the spec changes
 *   InvalidArgument      when the spec changes
 *   LaunchFailed         later and later
 */
import { accessSync, constants, openSync, readSync, closeSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import type { Launch, LaunchFailure } from './process-host.ts'

type Refused = { readonly failure: LaunchFailure }

const shebangBytes = 256

/** Where the program is. Checks everything that the files can tell. */
export function findProgram({ command: [name = ''], cwd, env }: Launch): { readonly path: string } | Refused {
  const problem = folderProblem(cwd)
  if (problem) return { failure: problem }
  const isPath = name.includes('/')
  const searched = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const candidates = isPath ? [resolve(cwd, name)] : searched.map((folder) => join(resolve(cwd, folder), name))
  const failures = candidates.map((path) => ({ path, failure: fileProblem(path) }))
  const usable = failures.find(({ failure }) => failure === undefined)
  if (usable) return interpreterProblem(usable.path, cwd) ?? { path: usable.path }
  // A file that exists but cannot be run says more than a file that does not exist.
  const nearest = failures.find(({ failure }) => failure !== undefined && failure.reason !== 'NotFound')
  if (nearest?.failure) return { failure: nearest.failure }
  const where = isPath
    ? `${candidates[0] ?? name} does not exist`
    : `${name} is in no folder of PATH: ${searched.join(':')}`
  return { failure: { reason: 'NotFound', message: `${where}. Correct the command or install the program` } }
}

function folderProblem(cwd: string): LaunchFailure | undefined {
  if (!isAbsolute(cwd))
    return { reason: 'WorkingDirectoryMissing', message: `the working directory ${cwd} is not an absolute path` }
  const found = statOf(cwd)
  if (!found)
    return {
      reason: 'WorkingDirectoryMissing',
      message: `the working directory ${cwd} does not exist. Create it or change spec.cwd`,
    }
  if (!found.isDirectory())
    return { reason: 'WorkingDirectoryMissing', message: `the working directory ${cwd} is a file. Change spec.cwd` }
  return mayUse(cwd, constants.X_OK)
    ? undefined
    : {
        reason: 'WorkingDirectoryForbidden',
        message: `the working directory ${cwd} may not be entered by this user. Change its permissions or spec.cwd`,
      }
}

function fileProblem(path: string): LaunchFailure | undefined {
  const found = statOf(path)
  if (!found) return { reason: 'NotFound', message: `${path} does not exist` }
  if (found.isDirectory())
    return { reason: 'IsDirectory', message: `${path} is a directory. Name the program in it in spec.command` }
  return mayUse(path, constants.X_OK)
    ? undefined
    : { reason: 'NotExecutable', message: `${path} is not executable. Run chmod +x on it, or name its interpreter` }
}

/** The interpreter in the first line of a script must exist. */
function interpreterProblem(path: string, cwd: string): Refused | undefined {
  const interpreter = /^#!\s*(\S+)/.exec(firstBytes(path))?.[1]
  if (interpreter === undefined || statOf(resolve(cwd, interpreter))) return undefined
  return {
    failure: {
      reason: 'BadInterpreter',
      message: `${path} names the interpreter ${interpreter} in its first line, which does not exist`,
    },
  }
}

function firstBytes(path: string): string {
  try {
    const file = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(shebangBytes)
      return bytes.toString('latin1', 0, readSync(file, bytes, 0, shebangBytes, 0))
    } finally {
      closeSync(file)
    }
  } catch {
    // A program may be executable and not readable.
    return ''
  }
}

function statOf(path: string): ReturnType<typeof statSync> | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    // A folder on the way may not be entered: for this user the file does not exist.
    return undefined
  }
}

function mayUse(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

const reasons: Readonly<Record<string, readonly [reason: string, message: string]>> = {
  EACCES: ['NotExecutable', 'the kernel does not permit this user to execute it'],
  EPERM: ['NotExecutable', 'the kernel does not permit this user to execute it'],
  ENOEXEC: ['BadInterpreter', 'it is a program of another machine'],
  ETXTBSY: ['TextFileBusy', 'the file is open for writing'],
  EAGAIN: ['ProcessLimit', 'the limit of processes of this user is reached (ulimit -u)'],
  EMFILE: ['FileLimit', 'the limit of open files is reached (ulimit -n)'],
  ENFILE: ['FileLimit', 'the limit of open files of this machine is reached'],
  ENOMEM: ['OutOfMemory', 'there is not enough memory for another process'],
  E2BIG: ['ArgumentsTooLong', 'arguments and environment are too long for the kernel'],
  ERR_INVALID_ARG_VALUE: ['InvalidArgument', 'an argument or a variable contains a NUL character'],
  ENOENT: ['NotFound', 'the program or its interpreter does not exist'],
}

/** A failure that only the kernel knows. */
export function explainFailure(error: unknown, { command: [name = ''] }: Pick<Launch, 'command'>): LaunchFailure {
  const { code = '', message = String(error) } = (error ?? {}) as { readonly code?: string; readonly message?: string }
  const known = reasons[code]
  return known
    ? { reason: known[0], message: `${name}: ${known[1]} (${code})` }
    : { reason: 'LaunchFailed', message: `${name}: ${message}` }
}

/** Failures that pass by themselves: worth another attempt without any change. */
export const passingReasons: ReadonlySet<string> = new Set([
  'TextFileBusy',
  'ProcessLimit',
  'FileLimit',
  'OutOfMemory',
  'LaunchFailed',
])
