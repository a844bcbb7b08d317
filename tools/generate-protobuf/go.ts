/**
 * Reads from Go sources what a `.proto` file does not contain: the JSON name of a field, whether it is a pointer (then
 * a zero on the wire is significant), whether JSON omits a zero, and whether it is inlined.
 *
 * Reads only top-level type declarations, and in them only fields with a `protobuf` tag: the tag
 * carries the field number, which joins the two sides.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface GoField {
  readonly jsonName: string
  readonly inline: boolean
  readonly pointer: boolean
  readonly omitEmpty: boolean
}

export interface GoStruct {
  /** Embeds `TypeMeta`, so it is a kind and not only a part of one. */
  readonly isKind: boolean
  readonly fields: ReadonlyMap<number, GoField>
}

/** Where a type is actually declared. */
export interface GoName {
  readonly goPackage: string
  readonly name: string
}

export interface GoPackage {
  /** The API group; undefined where the package declares none. */
  readonly group: string | undefined
  readonly structs: ReadonlyMap<string, GoStruct>
  /** Names of types that are lists of strings: a message around them is a detail of the wire. */
  readonly textLists: ReadonlySet<string>
  /** Types declared as those of another package: `type MatchCondition v1.MatchCondition`. */
  readonly borrowed: ReadonlyMap<string, GoName>
}

/** Reads the package `k8s.io/api/core/v1` below a folder of modules: a module cache, a `vendor` or a `staging/src`. */
export function readGoPackage(folder: string, goPackage: string): GoPackage {
  const [host = '', module = '', ...path] = goPackage.split('/')
  const home = join(folder, host, findModule(join(folder, host), module), ...path)
  const names = readdirSync(home).filter(
    (name) => name.endsWith('.go') && !/_test\.go$|\.pb\.go$|^zz_generated|_string\.go$/.test(name),
  )
  const text = names
    .map((name) => readFileSync(join(home, name), 'utf8'))
    .join('\n')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/^\/\*[^]*?\*\//gm, '')
  const structs = new Map<string, GoStruct>()
  for (const [, name = '', body = ''] of text.matchAll(/^type (\w+) struct ?\{(?:\}|\n([^]*?)^\})/gm))
    structs.set(name, parseStruct(body))
  const textLists = new Set([...text.matchAll(/^type (\w+) \[\]string$/gm)].map(([, name = '']) => name))
  return { group: /\bGroupName\s*=\s*"([^"]*)"/.exec(text)?.[1], structs, textLists, borrowed: parseBorrowed(text) }
}

function parseBorrowed(text: string): Map<string, GoName> {
  const imports = new Map(
    [...text.matchAll(/^\s+(?:(\w+) )?"([\w./-]+)"$/gm)].map(([, alias, path = '']) => [
      alias ?? path.split('/').at(-1) ?? '',
      path,
    ]),
  )
  const borrowed = new Map<string, GoName>()
  for (const [, name = '', alias = '', real = ''] of text.matchAll(/^type (\w+) (?:= )?(\w+)\.(\w+)$/gm)) {
    borrowed.set(name, { goPackage: imports.get(alias) ?? alias, name: real })
  }
  return borrowed
}

function findModule(folder: string, module: string): string {
  const found = readdirSync(folder).filter((name) => name === module || name.startsWith(`${module}@`))
  if (found.length !== 1)
    throw new Error(`${folder} should hold the module ${module} once, found: ${found.join(', ') || 'none'}`)
  return found[0] ?? ''
}

function parseStruct(body: string): GoStruct {
  const fields = new Map<number, GoField>()
  for (const line of body.split('\n')) {
    const match = /^\s*(?:(\w+)\s+)?([*\w.[\]]+)\s+`(.*)`/.exec(line)
    const tags = match?.[3] ?? ''
    const number = /\bprotobuf:"\w+,(\d+)/.exec(tags)?.[1]
    if (number !== undefined) fields.set(Number(number), parseTags(match?.[2] ?? '', tags))
  }
  return { isKind: /^\s*(?:metav1\.|v1\.)?TypeMeta\s+`json:",inline"`/m.test(body), fields }
}

function parseTags(type: string, tags: string): GoField {
  const [jsonName = '', ...options] = (/\bjson:"([^"]*)"/.exec(tags)?.[1] ?? '').split(',')
  return {
    jsonName,
    inline: options.includes('inline'),
    pointer: type.startsWith('*'),
    omitEmpty: options.includes('omitempty'),
  }
}
