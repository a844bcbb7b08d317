/**
 * Joins messages (numbers and wire types) with Go structs (JSON names, pointers) into one line of text per message.
 *
 *     Container name=1string image=2?string command=3[]string resources=8ResourceRequirements livenessProbe=10*Probe
 *
 * A line is the name of the message (with `!` when it is a kind of its own) and its fields: JSON name, `=`, number, `*`
 * for a pointer or `?` for a value whose zero JSON leaves out, `[]` for a list or `{}` for a map, and the type. A field
 * without a name is inlined: its fields are those of the message around it. A type that starts with a capital letter
 * is a message, `apiVersion#Message` one of another package, everything else a scalar or a special form.
 */
import { readGoPackage, type GoField, type GoPackage, type GoStruct } from './go.ts'
import type { ProtoField, ProtoFile, ProtoMessage } from './proto.ts'

/** All messages of one API version, as text: its lines joined by `;`. */
export interface Table {
  readonly apiVersion: string
  readonly goPackage: string
  readonly lines: readonly string[]
}

/** Messages whose JSON is not an object with their fields: Go defines methods for them. Maintained by hand. */
const specialTypes: Readonly<Record<string, string>> = {
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time': 'time',
  'k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime': 'microTime',
  // No served kind has one. If that changes, the codec must support it.
  'k8s.io.apimachinery.pkg.apis.meta.v1.Duration': '',
  'k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1': 'json',
  'k8s.io.apimachinery.pkg.api.resource.Quantity': 'quantity',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': 'intOrString',
  'k8s.io.apimachinery.pkg.runtime.RawExtension': 'json',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON': 'json',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool': 'schemaOrBool',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray': 'schemaOrList',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray': 'schemaOrTexts',
}

/** Messages that only describe others on the wire and have no Go struct with JSON tags. */
const wireOnly: ReadonlySet<string> = new Set(['k8s.io.apimachinery.pkg.apis.meta.v1.Timestamp'])

/** The group of a package whose sources declare it elsewhere or not at all. */
const groupOfMeta = 'meta.k8s.io'

const scalars: ReadonlySet<string> = new Set(['string', 'bytes', 'bool', 'int32', 'int64', 'double'])

interface Sources {
  readonly files: readonly ProtoFile[]
  readonly go: ReadonlyMap<string, GoPackage>
  readonly apiVersions: ReadonlyMap<string, string>
}

/** The tables of all packages whose API version `isWanted`, in a fixed order. */
export function makeTables(
  files: readonly ProtoFile[],
  { goFolder, isWanted }: { goFolder: string; isWanted: (apiVersion: string) => boolean },
): Table[] {
  const go = new Map(files.map(({ name, goPackage }) => [name, readGoPackage(goFolder, goPackage)]))
  const apiVersions = new Map(files.map(({ name }) => [name, apiVersionOf(name, go.get(name)?.group)]))
  const sources = { files, go, apiVersions }
  return files
    .filter(({ name }) => isWanted(apiVersions.get(name) ?? ''))
    .map((file) => ({
      apiVersion: apiVersions.get(file.name) ?? '',
      goPackage: file.goPackage,
      lines: linesOf(file, sources),
    }))
    .sort((a, b) => (a.apiVersion < b.apiVersion ? -1 : 1))
}

function apiVersionOf(name: string, declared: string | undefined): string {
  const version = name.split('.').at(-1) ?? ''
  const group = declared ?? (name.includes('.apis.meta.') ? groupOfMeta : undefined)
  // The remaining packages are no API versions: quantities, raw extensions and similar.
  if (group === undefined) return `none/${name}`
  return group === '' ? version : `${group}/${version}`
}

function linesOf(file: ProtoFile, sources: Sources): string[] {
  const isPlain = ({ name }: ProtoMessage): boolean => {
    const full = `${file.name}.${name}`
    return !Object.hasOwn(specialTypes, full) && !wireOnly.has(full) && !sources.go.get(file.name)?.textLists.has(name)
  }
  return file.messages
    .filter(isPlain)
    .map((message) => lineOf(file, message, sources))
    .sort()
}

function lineOf(file: ProtoFile, message: ProtoMessage, sources: Sources): string {
  const struct = structOf(file, message.name, sources)
  if (!struct) throw new Error(`${file.goPackage} has no struct ${message.name}`)
  const fields = message.fields.map((field) => {
    const go = struct.fields.get(field.number)
    if (!go)
      throw new Error(`${file.goPackage}.${message.name} has no field with number ${field.number} (${field.name})`)
    if (go.jsonName === '' && !go.inline)
      throw new Error(`${file.goPackage}.${message.name}: field ${field.name} has no JSON name`)
    return textOf(field, go, typeOf(field, file, sources))
  })
  const mark = struct.isKind ? '!' : ''
  return [`${message.name}${mark}`, ...fields].join(' ')
}

function structOf(file: ProtoFile, name: string, sources: Sources): GoStruct | undefined {
  const home = sources.go.get(file.name)
  const real = home?.borrowed.get(name)
  const realFile = real && sources.files.find(({ goPackage }) => goPackage === real.goPackage)
  return realFile ? structOf(realFile, real.name, sources) : home?.structs.get(name)
}

function textOf({ number, shape }: ProtoField, go: GoField, type: string): string {
  const name = go.inline ? '' : go.jsonName
  if (shape !== 'single') return `${name}=${number}${shape === 'list' ? '[]' : '{}'}${type}`
  if (go.inline && go.pointer) throw new Error(`an inlined pointer (${type}) is not supported`)
  const mark = go.pointer ? '*' : go.omitEmpty ? '?' : ''
  return `${name}=${number}${mark}${type}`
}

function typeOf({ type }: ProtoField, file: ProtoFile, { go, apiVersions }: Sources): string {
  if (scalars.has(type)) return type
  const full = type.startsWith('.') ? type.slice(1) : `${file.name}.${type}`
  const special = specialTypes[full]
  if (special === '') throw new Error(`${file.goPackage} uses ${full}, which the codec does not support`)
  if (special !== undefined) return special
  const [home, name] = [full.slice(0, full.lastIndexOf('.')), full.slice(full.lastIndexOf('.') + 1)]
  if (go.get(home)?.textLists.has(name)) return 'texts'
  return home === file.name ? name : `${apiVersions.get(home)}#${name}`
}
