/**
 * Files that `evenkeel up`, `serve` and `run` leave in `./data`, read by commands that run in the same directory.
 *
 * A working directory may be untrusted: a cloned repository, an unpacked archive, a shared folder. Commands must be safe
 * there. Invariants:
 *
 * - A file counts only if it and its folders belong to the caller, other users cannot write the folders, and other users
 *   can neither read nor write the file. Links are not followed. A checked-out file is readable for others.
 * - Of a copy, `data`, `data/copies` and `data/copies/NAME` are all checked: who can write one of them can replace the rest.
 * - Of a kubeconfig only the server, its CA and the token count. Whatever could run a program, read another file or
 *   leave this machine is an error, not ignored: the command must not go to another cluster by accident.
 * - `--kubeconfig data/kubeconfig` is the caller's own word and is read like any kubeconfig.
 */
import { constants, type Stats } from 'node:fs'
import { lstat, open, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { loadConfig, type ConnectionConfig } from 'evenkeel/client'
import { Failure } from './failure.ts'

const folderName = 'data'
const kubeconfigName = 'kubeconfig'

/** A data folder, or that of one copy of an application in it. */
export interface DataFolder {
  readonly path: string
  /** Every folder that is checked, the outer ones first; `path` is the last. */
  readonly checked: readonly string[]
  /** The caller has named the first one: it may be a link. */
  readonly isNamed: boolean
}

interface DataFolderOptions {
  /** What the caller has named. @default `./data` */
  readonly root?: string | undefined
  readonly copy?: string | undefined
}

export function dataFolder(cwd: string, { root, copy }: DataFolderOptions = {}): DataFolder {
  const data = resolve(cwd, root ?? folderName)
  const isNamed = root !== undefined
  if (copy === undefined) return { path: data, checked: [data], isNamed }
  const copies = join(data, 'copies')
  const path = join(copies, copy)
  return { path, checked: [data, copies, path], isNamed }
}

/** The kubeconfig of the server in this directory, or of a copy of its application. */
export function localKubeconfigPath(cwd: string, copy?: string): string {
  return join(dataFolder(cwd, { copy }).path, kubeconfigName)
}

/** Undefined when there is no such file. @throws {Failure} `bad-file` for a file that other users could have written. */
export async function readLocalFile(folder: DataFolder, name: string): Promise<string | undefined> {
  const path = join(folder.path, name)
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      if (codeOf(error) === 'ELOOP') throw untrusted(path, 'it is a link')
      return ifMissing(error)
    },
  )
  if (!file) return undefined
  try {
    for (const [index, each] of folder.checked.entries()) {
      const stats = await (folder.isNamed && index === 0 ? stat : lstat)(each)
      if (!stats.isDirectory()) throw untrusted(each, 'it is a link')
      checkOwner(each, stats, { forbidden: 0o022, remedy: 'chmod go-w' })
    }
    const stats = await file.stat()
    if (!stats.isFile()) throw untrusted(path, 'it is not a file')
    checkOwner(path, stats, { forbidden: 0o077, remedy: 'chmod 600' })
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** Undefined when no server of this directory is known. @throws {Failure} `bad-file` */
export async function readLocalConfig(
  cwd: string,
  { context, copy }: { context?: string | undefined; copy?: string | undefined } = {},
): Promise<ConnectionConfig | undefined> {
  const path = localKubeconfigPath(cwd, copy)
  const text = await readLocalFile(dataFolder(cwd, { copy }), kubeconfigName)
  if (text === undefined) return undefined
  const { origin, server, namespace, ca, token, ...more } = await loadConfig({
    kubeconfig: path,
    ...(context !== undefined && { context }),
    host: { ...noHost, readFile: () => Promise.resolve(text) },
  })
  // A client certificate is not needed beside the token, but harmless.
  const { cert: _cert, key: _key, ...foreign } = more
  const [extra] = Object.keys(foreign)
  if (extra !== undefined) throw untrusted(path, `evenkeel does not write ${fieldNames[extra] ?? extra}`)
  if (!isLoopbackUrl(server)) throw untrusted(path, `its server ${server} is not on this machine`)
  if ((ca && 'file' in ca) || (token && 'file' in token)) throw untrusted(path, 'it names other files')
  return { origin, server, namespace, ...(ca && { ca }), ...(token && { token }) }
}

/** Whether an address in a file of the folder is one of this machine. */
export function isLoopbackUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { hostname, protocol } = new URL(text)
  return /^https?:$/.test(protocol) && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

/** Names as in a kubeconfig. */
const fieldNames: Readonly<Record<string, string>> = {
  proxyUrl: 'proxy-url',
  tlsServerName: 'tls-server-name',
  insecureSkipVerify: 'insecure-skip-tls-verify',
  basic: 'username',
  impersonate: 'as',
  execExtension: 'extensions for exec',
}

/** A kubeconfig of this folder reads nothing else and runs nothing. */
const noHost = {
  env: {},
  home: '',
  pathDelimiter: ':',
  isTerminal: false,
  runProgram: (): Promise<never> => Promise.reject(new Error('no programs')),
}

function checkOwner(
  path: string,
  { uid, mode }: Stats,
  { forbidden, remedy }: { forbidden: number; remedy: string },
): void {
  const ours = process.getuid?.()
  // Windows has neither owner nor mode here.
  if (ours === undefined) return
  if (uid !== ours) throw untrusted(path, `it belongs to user ${uid}`)
  if ((mode & forbidden) === 0) return
  const octal = (mode & 0o777).toString(8).padStart(4, '0')
  throw untrusted(path, `other users can access it (mode ${octal}; if it is yours: ${remedy} ${path})`)
}

function untrusted(path: string, because: string): Failure {
  return new Failure('bad-file', `${path} is not used: ${because}`, {
    hint: 'name the file to trust it: --kubeconfig FILE or KUBECONFIG; or run the command in another directory',
  })
}

function ifMissing(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
  throw error
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
