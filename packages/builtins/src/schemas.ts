/**
 * The schema definitions of the built-in kinds, by short name: `core.v1.Pod`, `meta.v1.ObjectMeta`.
 *
 * Definitions are generated text and are parsed one package at a time, when the first definition of it is used:
 * a server without Pods never parses the schema of Pod. Schema nodes are shared and immutable.
 */
import { getOwn, type Definitions, type GroupVersionKind, type SchemaNode } from 'evenkeel/unstable/builtins'
import { definitionTexts, publishedPrefixes } from './generated/definitions.ts'

const packages = new Map<string, Readonly<Record<string, SchemaNode>>>()

const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const
const typeFields = { apiVersion: text, kind: text } as const
const streamFields = { stdin: flag, stdout: flag, stderr: flag, tty: flag, container: text } as const

const proxyOptions: SchemaNode = { type: 'object', properties: { ...typeFields, path: text } }

/** The options of connections to Pods, Nodes and Services: admission sees them, and OpenAPI has none of them. */
const connectOptions: Readonly<Record<string, SchemaNode>> = {
  'core.v1.PodAttachOptions': { type: 'object', properties: { ...typeFields, ...streamFields } },
  'core.v1.PodExecOptions': {
    type: 'object',
    properties: { ...typeFields, ...streamFields, command: { type: 'array', items: text } },
  },
  'core.v1.PodPortForwardOptions': {
    type: 'object',
    properties: { ...typeFields, ports: { type: 'array', items: { type: 'integer', format: 'int32' } } },
  },
  'core.v1.NodeProxyOptions': proxyOptions,
  'core.v1.PodProxyOptions': proxyOptions,
  'core.v1.ServiceProxyOptions': proxyOptions,
}

/** Finds a definition by its short name. */
export const builtinSchemas: Definitions = (name) => {
  const options = getOwn(connectOptions, name)
  if (options) return options
  const at = name.lastIndexOf('.')
  const definitions = at < 0 ? undefined : openPackage(name.slice(0, at))
  return definitions && getOwn(definitions, name.slice(at + 1))
}

/** The short name of a built-in kind's definition: the group's first word, or `core`, then version and kind. */
export function schemaName({ group, version, kind }: GroupVersionKind): string {
  return `${group === '' ? 'core' : group.split('.', 1)[0]}.${version}.${kind}`
}

/** The OpenAPI name of a definition: `io.k8s.api.core.v1.Pod` for `core.v1.Pod`. */
export function publishedSchemaName(name: string): string {
  const word = name.slice(0, name.indexOf('.'))
  const prefix = getOwn(publishedPrefixes, word)
  return prefix === undefined ? `io.k8s.api.${name}` : prefix + name.slice(word.length)
}

function openPackage(name: string): Readonly<Record<string, SchemaNode>> | undefined {
  const opened = packages.get(name)
  if (opened) return opened
  const text = getOwn(definitionTexts, name)
  if (text === undefined) return undefined
  const definitions = JSON.parse(text) as Record<string, SchemaNode>
  packages.set(name, definitions)
  return definitions
}
