/**
 * Descriptions of the built-in types and their fields, for OpenAPI documents and `kubectl explain`.
 *
 * The texts are this project's own words. They are an entry point of their own, so that only a process that serves
 * OpenAPI loads them. One package is parsed when the first of its types is described.
 *
 * A text file has a line for a type and an indented line for each of its fields:
 *
 *     PodSpec: How to run the containers of a Pod.
 *       restartPolicy [Always|Never|OnFailure]: When the kubelet restarts containers that ended.
 *     EphemeralContainer < Container: A container for debugging.
 *
 * Values in brackets become the `enum` of the field, of its items or of its values. `<` takes the texts of fields from
 * another type of the same package, or of any package by its full name: `< meta.v1.Condition`. Fields that every kind
 * or every list has are described once, here.
 */
import { getOwn, type SchemaNode } from 'evenkeel/unstable/builtins'
import { admissionregistrationV1 } from './admissionregistration.ts'
import { apiextensionsV1, apiregistrationV1 } from './extension.ts'
import { appsV1, batchV1 } from './workloads.ts'
import { authenticationV1, authorizationV1, certificatesV1, rbacV1 } from './auth.ts'
import { autoscalingV1, autoscalingV2, policyV1, schedulingV1 } from './scaling.ts'
import { configTexts, eventTexts, serviceTexts } from './core-config.ts'
import { containerTexts } from './core-containers.ts'
import { nodeTexts } from './core-nodes.ts'
import { podTexts } from './core-pods.ts'
import { volumeTexts } from './core-volumes.ts'
import { coordinationV1, eventsV1, flowcontrolV1, nodeV1 } from './cluster.ts'
import { discoveryV1, networkingV1 } from './networking.ts'
import { metaV1, scalarTexts } from './meta.ts'
import { resourceV1 } from './resource.ts'
import { storageV1 } from './storage.ts'

interface FieldText {
  readonly text: string
  readonly values?: readonly string[]
}

interface TypeText {
  readonly text: string
  readonly base?: string
  readonly fields: ReadonlyMap<string, FieldText>
}

export const packageTexts: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration.v1': [admissionregistrationV1],
  'apiextensions.v1': [apiextensionsV1],
  'apiregistration.v1': [apiregistrationV1],
  'apps.v1': [appsV1],
  'authentication.v1': [authenticationV1],
  'authorization.v1': [authorizationV1],
  'autoscaling.v1': [autoscalingV1],
  'autoscaling.v2': [autoscalingV2],
  'batch.v1': [batchV1],
  'certificates.v1': [certificatesV1],
  'coordination.v1': [coordinationV1],
  'core.v1': [podTexts, containerTexts, volumeTexts, nodeTexts, serviceTexts, configTexts, eventTexts],
  'discovery.v1': [discoveryV1],
  'events.v1': [eventsV1],
  'flowcontrol.v1': [flowcontrolV1],
  'meta.v1': [metaV1],
  'networking.v1': [networkingV1],
  'node.v1': [nodeV1],
  'policy.v1': [policyV1],
  'rbac.v1': [rbacV1],
  'resource.v1': [resourceV1],
  'scheduling.v1': [schedulingV1],
  'storage.v1': [storageV1],
  intstr: [scalarTexts],
  quantity: [scalarTexts],
  runtime: [scalarTexts],
  version: [scalarTexts],
}

/** The fields of every object. Conformance tests of Kubernetes look for the first words of two of them. */
export const objectTexts = {
  apiVersion: 'APIVersion defines the group and version that this object is written in, such as apps/v1.',
  kind: 'The type of this object, in the singular and in CamelCase, such as Deployment. It cannot be changed.',
  metadata: "Standard object's metadata: its name, namespace, labels, annotations and owners.",
  status: 'The observed state, written by controllers. It may lag behind the desired state.',
} as const

/** The fields of every list. */
export const listTexts = {
  apiVersion: objectTexts.apiVersion,
  kind: 'The type of this list: the kind of its objects with List at the end.',
  items: 'The objects of the list, in the order of their namespaces and names.',
  metadata: 'The resource version of the list and, for one page of many, the token of the next page.',
} as const

/** The text of a kind's list. */
export function listText(kind: string): string {
  return `A list of ${kind} objects.`
}

/** A definition with descriptions and the allowed values of its fields; itself where there are no texts. */
export function describeDefinition(name: string, node: SchemaNode): SchemaNode {
  const type = typeText(name)
  const shared = sharedTexts(node)
  const isList = shared === listTexts
  const description =
    type?.text ?? (isList ? listText(name.slice(name.lastIndexOf('.') + 1, -'List'.length)) : undefined)
  if (description === undefined) return node
  const described = { ...node, description }
  if (!node.properties) return described
  const fields = Object.entries(node.properties).map(([key, field]) => {
    const text = fieldText(name, key) ?? getOwn(shared, key)
    return [key, text === undefined ? field : describeField(field, typeof text === 'string' ? { text } : text)] as const
  })
  return { ...described, properties: Object.fromEntries(fields) }
}

function sharedTexts(node: SchemaNode): Readonly<Record<string, string>> {
  if (!node['x-kubernetes-group-version-kind']) return {}
  const { items, metadata } = node.properties ?? {}
  const isList = items !== undefined && metadata?.allOf?.[0]?.$ref === 'meta.v1.ListMeta'
  return isList ? listTexts : objectTexts
}

function describeField(node: SchemaNode, { text, values }: FieldText): SchemaNode {
  const described = { ...node, description: text }
  if (!values) return described
  if (node.items) return { ...described, items: { ...node.items, enum: values } }
  if (typeof node.additionalProperties === 'object')
    return { ...described, additionalProperties: { ...node.additionalProperties, enum: values } }
  return { ...described, enum: values }
}

function fieldText(name: string, key: string): FieldText | undefined {
  const type = typeText(name)
  return type?.fields.get(key) ?? (type?.base === undefined ? undefined : fieldText(type.base, key))
}

const packages = new Map<string, ReadonlyMap<string, TypeText>>()

/** The texts of a type by its short name. */
function typeText(name: string): TypeText | undefined {
  const at = name.lastIndexOf('.')
  return openPackage(name.slice(0, at)).get(name.slice(at + 1))
}

function openPackage(name: string): ReadonlyMap<string, TypeText> {
  const opened = packages.get(name)
  if (opened) return opened
  const texts = new Map((getOwn(packageTexts, name) ?? []).flatMap((text) => parseTexts(name, text)))
  packages.set(name, texts)
  return texts
}

const typeLine = /^([^\s:]+)(?: < (\S+))?: (.+)$/
const fieldLine = /^ {2}([^\s:]+)(?: \[([^\]]*)\])?: (.+)$/

/** The types of a text, in the form that the head of this file shows. */
export function parseTexts(packageName: string, text: string): [name: string, TypeText][] {
  const types: [string, TypeText & { readonly fields: Map<string, FieldText> }][] = []
  for (const line of text.split('\n')) {
    const isField = line.startsWith(' ')
    const found = (isField ? fieldLine : typeLine).exec(line)
    if (found === null) {
      if (line === '') continue
      throw new SyntaxError(`${packageName}: neither a type nor a field: ${line}`)
    }
    const [, name = '', extra, about = ''] = found
    if (isField)
      types.at(-1)?.[1].fields.set(name, { text: about, ...(extra !== undefined && { values: extra.split('|') }) })
    else types.push([name, { text: about, ...baseOf(packageName, extra), fields: new Map() }])
  }
  return types
}

function baseOf(packageName: string, base: string | undefined): { base?: string } {
  if (base === undefined) return {}
  return { base: base.includes('.') ? base : `${packageName}.${base}` }
}
