/**
 * Reads objects from files: YAML or JSON, several per file, directories of files, and lists.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Document } from 'yaml'
import { isJsonObject, type JsonObject, type JsonValue } from 'evenkeel/unstable/api'
import { type KubeObject } from 'evenkeel'
import type { Io } from './command.ts'
import { Failure } from './failure.ts'

/** The objects in the order of the files. `-` is standard input. @throws {Failure} `bad-file` */
export async function readManifests(
  files: readonly string[],
  io: Pick<Io, 'cwd' | 'stdin'>,
): Promise<readonly KubeObject[]> {
  if (files.length === 0)
    throw new Failure('usage', 'no file is given', { hint: '-f FILE, or -f - to read standard input' })
  const objects: KubeObject[] = []
  for (const file of files) {
    for (const path of file === '-' ? ['-'] : await filesOf(resolve(io.cwd, file)))
      objects.push(
        ...(await parseManifests(path === '-' ? await readAll(io.stdin) : await readFile(path, 'utf8'), path)),
      )
  }
  if (objects.length === 0) throw new Failure('bad-file', `no objects in ${files.join(', ')}`)
  return objects
}

/** @throws {Failure} `bad-file`, with the line. */
export async function parseManifests(text: string, path: string): Promise<readonly KubeObject[]> {
  // Only commands that read files wait for the YAML library.
  const { parseAllDocuments } = await import('yaml')
  return parseAllDocuments(text, { maxAliasCount: 100 } as never).flatMap((document) => {
    const [problem] = document.errors
    if (problem) throw new Failure('bad-file', `${path}: ${problem.message.split('\n')[0] ?? ''}`)
    const value = valueOf(document, path)
    return value === null ? [] : objectsOf(value, path)
  })
}

/** Aliases can multiply a small file into a huge object: the library throws when they exceed the limit. */
function valueOf(document: Document, path: string): JsonValue {
  try {
    return document.toJS({ maxAliasCount: 100 }) as JsonValue
  } catch (error) {
    throw new Failure('bad-file', `${path}: ${(error as Error).message}`, { cause: error })
  }
}

function objectsOf(value: JsonValue, path: string): readonly KubeObject[] {
  if (!isJsonObject(value))
    throw new Failure('bad-file', `${path}: expected an object, got ${Array.isArray(value) ? 'a list' : typeof value}`)
  const { kind, apiVersion, items } = value
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items))
    return items.flatMap((item) => objectsOf(item, path))
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw new Failure('bad-file', `${path}: an object has no apiVersion or kind`)
  if (!isJsonObject(value['metadata']))
    throw new Failure('bad-file', `${path}: ${kind} has no metadata`, { hint: 'metadata: { name: ... }' })
  return [value as object as KubeObject]
}

/** An object as people read it. Field managers are for `why`. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  if (!isJsonObject(object['metadata'])) return object
  const { managedFields: _, ...metadata } = object['metadata']
  return { ...object, metadata }
}

async function filesOf(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const names = (await readdir(path)).filter((name) => /\.(?:ya?ml|json)$/.test(name)).sort()
  return names.map((name) => join(path, name))
}

async function readAll(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of stdin) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}
