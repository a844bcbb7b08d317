/**
 * Our own files: objects in YAML or JSON, several per file, lists, any kind.
 *
 * The server validates them. Here is only what it cannot know: the line, and what people write by habit.
 */
import { Findings, type FileContents, type FileObject, type WorkloadObject } from './finding.ts'
import { splitWords } from './field.ts'
import { inFolder } from './folder.ts'
import { workloadsVersion } from './shapes.ts'
import { parseYaml, type YamlValue } from './yaml-value.ts'

interface ManifestOptions {
  readonly file: string
  /** Of the file, from where relative paths begin. @default the same */
  readonly folder?: string | undefined
}

export async function readManifestFile(text: string, { file, folder }: ManifestOptions): Promise<FileContents> {
  const findings = new Findings()
  const documents = await parseYaml(text, { file, findings })
  const objects = documents.flatMap(objectsOf).map((one) => ({ ...one, object: inFolder(one.object, folder) }))
  if (objects.length === 0 && findings.errors.length === 0)
    findings.error({ file, line: 1, path: '' }, 'the file has no objects: write apiVersion, kind, metadata and spec')
  return findings.contents(objects)
}

function objectsOf(document: YamlValue): readonly FileObject[] {
  if (!document.isMap) {
    document.error('must be an object with apiVersion, kind and metadata')
    return []
  }
  const kind = document.take('kind')?.text
  const items = document.take('items')
  if (kind?.endsWith('List') === true && items) return items.items().flatMap(objectsOf)
  const apiVersion = document.take('apiVersion')?.text
  const name = document.take('metadata')?.take('name')?.text
  const missing = [
    ...(apiVersion === undefined ? ['apiVersion'] : []),
    ...(kind === undefined ? ['kind'] : []),
    ...(name === undefined ? ['metadata.name'] : []),
  ]
  if (missing.length > 0) {
    document.error(`has no ${missing.join(' and no ')}${hintFor(document)}`)
    return []
  }
  const object = valueOf(document)
  if (!object) return []
  if (apiVersion === workloadsVersion && kind === 'Process') checkCommand(document.take('spec')?.take('command'))
  return [{ object, file: document.file, line: document.line }]
}

function valueOf(document: YamlValue): WorkloadObject | undefined {
  try {
    return document.data() as WorkloadObject
  } catch (error) {
    document.error((error as Error).message)
    return undefined
  }
}

/** A file of another program has a name by which it is recognized. */
function hintFor(document: YamlValue): string {
  if (document.take('services')) return ': if this is a compose file, call it compose.yaml'
  if (document.take('processes')) return ': if this is a file of process-compose, call it process-compose.yaml'
  return `: write apiVersion: ${workloadsVersion} and kind: Process`
}

function checkCommand(command: YamlValue | undefined): void {
  if (!command || command.isList || command.isMap) return
  const words = splitWords(command.text ?? '')
  if (!words) command.error('has a quote that is not closed; and it must be a list: [node, server.js]')
  else command.error(`must be a list: [${words.join(', ')}]; or write shell: with the text`)
}
