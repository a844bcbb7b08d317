/**
 * `evenkeel edit`: an object in the editor of the user, written back as one update.
 *
 *   read ─▶ editor ─▶ unchanged ────────▶ no changes
 *              ▲  └──▶ update ─▶ edited
 *              └── the reason as comments ◀── invalid
 *
 * Invariants: the update has the version that was read, so that nothing of others is overwritten; a text that was changed
 * and not stored is never deleted, and the failure names its file; the file is in a folder that only the user can read.
 *
 * The editor is a command of the user, from the environment. It runs without a shell: quotes in it are honoured, and
 * nothing else is interpreted.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Document } from 'yaml'
import { isApiError, isJsonObject, stringifyJson, type JsonObject, type JsonValue } from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { oneNamespaceOption, type Command, type Invocation } from '../command.ts'
import { Failure, failureOf } from '../failure.ts'
import { readTarget } from '../lookup.ts'
import { withoutManagedFields } from '../manifests.ts'
import { safeLine } from '../terminal.ts'

export const edit: Command = {
  name: 'edit',
  about: 'change an object in your editor',
  usage: 'KIND/NAME',
  words: { least: 1, most: 2 },
  completes: 'kinds',
  options: {
    ...oneNamespaceOption,
    subresource: { type: 'string', value: 'NAME', about: 'write this subresource: status' },
    'show-managed-fields': { type: 'boolean', about: 'keep metadata.managedFields in the text' },
    'field-manager': { type: 'string', value: 'NAME', about: 'the field manager (default: evenkeel-edit)' },
  },
  details:
    'The editor is KUBE_EDITOR, VISUAL, EDITOR or vi. A text that the server refuses is opened again with the reason; one that cannot be stored is kept in a file.',
  examples: ['evenkeel edit app/web', 'EDITOR="code --wait" evenkeel edit app/web'],
  async run(call) {
    const editor = editorOf(call.io.env)
    const client = await call.connect()
    const object = await readTarget(client, call)
    const file = await EditFile.create(object)
    let isDone = false
    try {
      const outcome = await editUntilStored(client, object, { call, file, editor })
      isDone = true
      report(object, outcome, call)
      return 0
    } finally {
      await file.close({ isDone })
    }
  },
}

type Outcome = 'edited' | 'no changes'

interface Editing {
  readonly call: Invocation
  readonly file: EditFile
  readonly editor: readonly string[]
}

/** @throws {Failure} with the file of the text, when it cannot be stored */
async function editUntilStored(client: Client, object: KubeObject, { call, file, editor }: Editing): Promise<Outcome> {
  const shown = call.values.flag('show-managed-fields') ? jsonOf(object) : withoutManagedFields(jsonOf(object))
  const { stringify } = await import('yaml')
  const original = stringify(shown, { lineWidth: 0 })
  let [text, problem] = [original, '']
  for (;;) {
    const next = await file.edit(`${introOf(problem)}${text}`, editor)
    if (next === original || next.trim() === '') return 'no changes'
    if (next === text) throw file.keep(new Failure('refused', `not saved: ${firstLine(problem)}`), call)
    text = next
    try {
      call.io.signal.throwIfAborted()
      const changed = await parseEdited(text)
      if (stringifyJson(changed) === stringifyJson(shown)) return 'no changes'
      checkIdentity(changed, object)
      await store(client, changed, { object, call })
      return 'edited'
    } catch (error) {
      const reason = correctable(error)
      if (reason === undefined) throw file.keep(error, call)
      problem = reason
    }
  }
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').replace(/:$/, '')
}

/** The reason of a mistake in the text; undefined when another text would not help. */
function correctable(error: unknown): string | undefined {
  if (error instanceof MistakeInText) return error.message
  if (!isApiError(error)) return undefined
  return ['Invalid', 'BadRequest', 'Forbidden', 'UnprocessableEntity'].includes(error.reason)
    ? error.message
    : undefined
}

class MistakeInText extends Error {
  override readonly name = 'MistakeInText'
}

const intro = `# Edit the object below. Lines that begin with '#' are ignored. To cancel, leave it unchanged or empty it.
# If the server refuses it, this file is opened again with the reason.
#
`

function introOf(problem: string): string {
  if (problem === '') return intro
  const lines = problem.split('\n').map((line) => `# ${safeLine(line)}`.trimEnd())
  return `${intro}# The object was not saved:\n${lines.join('\n')}\n#\n`
}

/** @throws {MistakeInText} */
async function parseEdited(text: string): Promise<JsonObject> {
  const { parseDocument } = await import('yaml')
  const document = parseDocument(text, { intAsBigInt: true })
  const [problem] = document.errors
  // Lines are counted without the comments at the top, which would mislead; the message quotes the line.
  if (problem) throw new MistakeInText(problem.message.replace(/ at line \d+, column \d+/, '').trim())
  const value = plainNumbers(valueOf(document))
  if (!isJsonObject(value)) throw new MistakeInText('the text is not an object')
  return value
}

/** @throws {MistakeInText} for aliases that name nothing, or multiply */
function valueOf(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    throw new MistakeInText((error as Error).message)
  }
}

/** Whole numbers are read exactly; those that fit are numbers again. */
function plainNumbers(value: unknown): JsonValue {
  if (typeof value === 'bigint') return (Number.isSafeInteger(Number(value)) ? Number(value) : value) as JsonValue
  if (Array.isArray(value)) return value.map(plainNumbers)
  if (typeof value !== 'object' || value === null) return value as JsonValue
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plainNumbers(each)]))
}

/** @throws {MistakeInText} when the text names another object */
function checkIdentity({ apiVersion, kind, metadata }: JsonObject, object: KubeObject): void {
  const { name, namespace } = isJsonObject(metadata) ? metadata : {}
  const changed = [
    ...(apiVersion === object.apiVersion ? [] : ['apiVersion']),
    ...(kind === object.kind ? [] : ['kind']),
    ...(name === object.metadata.name ? [] : ['metadata.name']),
    ...(namespace === object.metadata.namespace ? [] : ['metadata.namespace']),
  ]
  if (changed.length > 0)
    throw new MistakeInText(`${changed.join(', ')} must not change, because they identify the object`)
}

async function store(
  client: Client,
  changed: JsonObject,
  { object, call }: { object: KubeObject; call: Invocation },
): Promise<void> {
  const { resourceVersion, uid } = object.metadata
  const metadata = { ...(isJsonObject(changed['metadata']) ? changed['metadata'] : {}), resourceVersion, uid }
  const written = { ...changed, metadata } as object as KubeObject
  const options = {
    fieldManager: call.values.text('field-manager') ?? 'evenkeel-edit',
    signal: call.io.signal,
  }
  const subresource = call.values.text('subresource')
  await (subresource === undefined
    ? client.update(written, options)
    : client.subresource(subresource).update(written, options))
}

function jsonOf(object: KubeObject): JsonObject {
  return { ...object } as object as JsonObject
}

function refOf({ kind, metadata: { name = '' } }: KubeObject): string {
  return `${kind.toLowerCase()}/${name}`
}

function report(object: KubeObject, outcome: Outcome, { io: { stdout }, json }: Invocation): void {
  const { apiVersion, kind, metadata } = object
  const { name, namespace } = metadata
  stdout.write(
    json
      ? `${JSON.stringify({ outcome: outcome === 'edited' ? 'edited' : 'unchanged', apiVersion, kind, name, ...(namespace !== undefined && { namespace }) })}\n`
      : `${refOf(object)}${outcome === 'edited' ? ' edited' : ': no changes'}\n`,
  )
}

/** The command of the user, in words: `code --wait`, `'/opt/my editor/bin' -n`. @throws {Failure} `usage` */
function editorOf(env: Invocation['io']['env']): readonly string[] {
  const name = ['KUBE_EDITOR', 'VISUAL', 'EDITOR'].find((each) => (env[each] ?? '').trim() !== '')
  const command = name === undefined ? (process.platform === 'win32' ? 'notepad' : 'vi') : (env[name] ?? '')
  const words = [...command.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  )
  if (words.length > 0 && !/["']/.test(command.replace(/"[^"]*"|'[^']*'/g, ''))) return words
  throw new Failure('usage', `${name ?? 'EDITOR'} has a quote without its end: ${command}`)
}

/** The exit code; null when a signal ended it. @throws {Failure} `usage`, when it cannot be started */
async function runEditor(command: string, words: readonly string[]): Promise<number | null> {
  try {
    const child = spawn(command, words, { stdio: 'inherit', shell: false })
    const [code] = (await once(child, 'close')) as [number | null]
    return code
  } catch (error) {
    throw new Failure('usage', `cannot run the editor ${command}: ${(error as Error).message}`, {
      cause: error,
      hint: 'EDITOR=nano evenkeel edit KIND/NAME',
    })
  }
}

class EditFile {
  readonly #folder: string
  readonly #path: string
  readonly #ref: string
  /** Whether the user has changed the text. */
  #isDirty = false

  private constructor(folder: string, object: KubeObject) {
    this.#folder = folder
    this.#ref = refOf(object)
    this.#path = join(folder, `${this.#ref.replace(/[^\w.-]/g, '-')}.yaml`)
  }

  static async create(object: KubeObject): Promise<EditFile> {
    const folder = await mkdtemp(join(tmpdir(), 'evenkeel-edit-'))
    await chmod(folder, 0o700)
    return new EditFile(folder, object)
  }

  /** What the user leaves in the file, without the comments at its top. @throws {Failure} when the editor fails */
  async edit(text: string, [command = '', ...words]: readonly string[]): Promise<string> {
    await writeFile(this.#path, text, { mode: 0o600 })
    const code = await runEditor(command, [...words, this.#path])
    const left = await readFile(this.#path, 'utf8')
    this.#isDirty ||= left !== text
    if (code === 0) return left.replace(/^(?:#.*(?:\r?\n|$))+/, '')
    throw new Failure('refused', `the editor ${command} ended with ${code ?? 'a signal'}: nothing was changed`, {
      hint: this.#isDirty ? this.#hint() : undefined,
    })
  }

  #hint(): string {
    return `evenkeel edit ${this.#ref}; your text is in ${this.#path}`
  }

  /** The error with the path of the text, which is printed at once where the error itself says nothing. */
  keep(error: unknown, { io: { signal, stderr } }: Invocation): Error {
    const failure = signal.aborted ? undefined : failureOf(error)
    if (!failure) {
      stderr.write(`Your text is in ${this.#path}\n`)
      return error instanceof Error ? error : new Error(String(error))
    }
    const isConflict = isApiError(error) && error.reason === 'Conflict'
    const message = `${isConflict ? `${this.#ref} was changed in the meantime: ` : ''}${failure.message}`
    return new Failure(failure.code, message, {
      cause: error,
      hint: this.#hint(),
    })
  }

  /** A changed text that was not stored stays. */
  async close({ isDone }: { isDone: boolean }): Promise<void> {
    if (isDone || !this.#isDirty) await rm(this.#folder, { recursive: true, force: true })
  }
}
