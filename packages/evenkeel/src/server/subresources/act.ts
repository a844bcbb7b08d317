/**
 * POST of an action: `/apis/demo.example.com/v1/namespaces/shop/apps/web/restart`.
 *
 * Who may do it is a right of its own (`create apps/restart`), apart from changing the object. The server records what is
 * wanted, in the form that the kind's sheet says; the work is a controller's. Nothing is asked of an object that is being
 * deleted, or whose sheet says that it makes no sense now.
 */
import {
  ApiError,
  applyMergePatch,
  conflict,
  fieldError,
  FieldPath,
  formatActionRequest,
  formatTime,
  invalid,
  isJsonObject,
  loadClaimsLanguage,
  Operation,
  operationTargetLabel,
  requestAnnotation,
  validateCustomObject,
} from '#api'
import type { ActionSheet, JsonObject, JsonValue, SchemaNode, UnstructuredObject } from '#api'
import { randomUuid } from '#base'
import type { WireResponse } from '#wire'
import type { Call, Rooms, Target } from '../call.ts'
import { prepare, servedType, toServed } from '../convert.ts'
import { readOptionsBody } from '../decode.ts'
import { matchesPattern, preparePatterns } from '../definitions/patterns.ts'
import { readWriteOptions } from '../options/write-options.ts'
import { replyDocument } from '../reply.ts'
import { managerName } from '../resources/manage.ts'
import type { ObjectDraft } from '../resources/resource.ts'
import { createObject } from '../walks/create.ts'
import { modify } from '../walks/modify.ts'
import { readObject } from '../walks/read.ts'

interface Acting {
  readonly call: Call
  /** The object itself, not the path below it. */
  readonly target: Target
  readonly rooms: Rooms
  readonly sheet: ActionSheet
  readonly object: UnstructuredObject
  readonly input: JsonValue | undefined
  readonly dryRun: boolean
}

/** @throws {ApiError} `NotFound`, `Conflict` (not now), `Invalid` (what was given along), `ServiceUnavailable` (nobody answers). */
export async function act(call: Call, { subresource, ...target }: Target, rooms: Rooms): Promise<WireResponse> {
  const sheet = target.resource.actions?.find(({ name }) => name === subresource?.name)
  if (!sheet) throw new ApiError('NotFound', `there is no action ${JSON.stringify(subresource?.name)}`)
  const { dryRun } = readWriteOptions(call.query, 'CreateOptions')
  const body = (await readOptionsBody(call.request)) ?? {}
  const stored = await readObject(target, rooms)
  await prepare([stored], target.resource)
  const acting: Acting = {
    call,
    target,
    rooms,
    sheet,
    object: toServed(stored, target.resource),
    input: body['input'],
    dryRun,
  }
  await checkInput(acting)
  await checkEnabled(acting, acting.object)
  const { status, ...result } = await perform(acting)
  return replyDocument(
    call,
    { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'ActionResult', action: sheet.name, form: sheet.form, ...result },
    { status, choice: { format: 'json' } },
  )
}

async function perform(acting: Acting): Promise<{ status: number } & JsonObject> {
  switch (acting.sheet.form) {
    case 'state':
      return setState(acting)
    case 'token':
      return stamp(acting)
    case 'operation':
      return begin(acting)
    default:
      return answer(acting)
  }
}

async function setState(acting: Acting): Promise<{ status: number } & JsonObject> {
  const before = acting.object.metadata.resourceVersion
  const { stored } = await change(
    acting,
    (current) => applyMergePatch(current as unknown as JsonObject, acting.sheet.patch ?? {}) as ObjectDraft,
  )
  const { resourceVersion } = toServed(stored, acting.target.resource).metadata
  return { status: 200, changed: resourceVersion !== before }
}

async function stamp(acting: Acting): Promise<{ status: number } & JsonObject> {
  const {
    rooms: { clock, random },
    call: { user },
    sheet,
    input,
  } = acting
  const token = randomUuid(random)
  const text = formatActionRequest({
    token,
    by: user.name,
    time: formatTime(clock.now()),
    ...(input !== undefined && { input }),
  })
  await change(
    acting,
    (current) =>
      applyMergePatch(current as unknown as JsonObject, {
        metadata: { annotations: { [requestAnnotation(sheet.name)]: text } },
      }) as ObjectDraft,
  )
  return { status: 202, token }
}

/** An object is judged again each time it is read: it may have begun to go, or been switched off, meanwhile. */
function change(acting: Acting, changed: (current: UnstructuredObject) => ObjectDraft): ReturnType<typeof modify> {
  const { call, target, rooms, dryRun } = acting
  return modify(
    async (current) => {
      await checkEnabled(acting, current)
      return changed(current)
    },
    { call, target, rooms, dryRun, manager: managerName('', call.request.headers['user-agent']) },
  )
}

async function begin({
  call,
  target,
  rooms,
  sheet,
  object,
  input,
  dryRun,
}: Acting): Promise<{ status: number } & JsonObject> {
  const resource = rooms.registry.find(Operation.group, Operation.version, Operation.plural)
  if (!resource)
    throw new ApiError(
      'ServiceUnavailable',
      `the action ${sheet.name} makes an Operation, and that kind is not installed: run a controller that has the action`,
    )
  const { apiVersion } = servedType(target.resource)
  const { name = '', uid = '' } = object.metadata
  const kind = target.resource.kind
  const namespace = target.namespace || 'default'
  const wanted = (): ObjectDraft => ({
    apiVersion: Operation.apiVersion,
    kind: Operation.kind,
    metadata: {
      generateName: `${name.slice(0, 180)}-${sheet.name}-`,
      namespace,
      labels: { [operationTargetLabel]: uid },
      ownerReferences: [{ apiVersion, kind, name, uid }],
    },
    spec: {
      action: sheet.name,
      target: { apiVersion, kind, name, uid },
      by: call.user.name,
      ...(input !== undefined && { input }),
      ...(sheet.ttlSeconds !== undefined && { ttlSeconds: sheet.ttlSeconds }),
    },
  })
  const stored = await createObject(wanted, {
    call,
    target: { resource, namespace, name: '' },
    rooms,
    dryRun,
    manager: managerName('', call.request.headers['user-agent']),
  })
  const { metadata } = toServed(stored, resource)
  return { status: 202, operation: { name: metadata.name, namespace } }
}

/** A controller in another process answers as soon as it sees the question. */
async function answer(acting: Acting): Promise<{ status: number } & JsonObject> {
  const {
    call: { user },
    target,
    rooms,
    sheet,
    object,
    input,
  } = acting
  const answerer = rooms.answerers.find(target.resource, sheet.name)
  if (!answerer) return begin(acting)
  return { status: 200, output: await answerer({ object, input, user, signal: rooms.stopping }) }
}

async function checkInput({ sheet, input, target }: Acting): Promise<void> {
  const subject = { group: target.resource.group, kind: target.resource.kind, name: target.name }
  if (sheet.input === undefined) {
    if (input !== undefined)
      throw invalid(subject, [fieldError.forbidden(FieldPath.of('input'), `the action ${sheet.name} takes nothing`)])
    return
  }
  await preparePatterns()
  const whole = input === undefined ? {} : { input }
  const schema = {
    type: 'object',
    properties: { input: sheet.input },
    ...(sheet.input['required'] !== undefined && { required: ['input'] }),
  } as unknown as SchemaNode
  const errors = validateCustomObject(whole, schema, { matches: matchesPattern })
  if (errors.length > 0) throw invalid(subject, errors)
}

async function checkEnabled({ sheet, target: { resource, name } }: Acting, object: UnstructuredObject): Promise<void> {
  const subject = { group: resource.group, kind: resource.plural, name }
  if (object.metadata.deletionTimestamp !== undefined)
    throw conflict(subject, `it is being deleted: ${sheet.name} makes no sense any more`)
  if (sheet.enabledWhen === undefined) return
  const language = await loadClaimsLanguage()
  const { value, error } = language
    .compile(sheet.enabledWhen, { about: 'object' })
    .evaluate(object as unknown as JsonObject)
  if (error !== undefined || isJsonObject(value) || value !== true)
    throw conflict(
      subject,
      `${sheet.name} makes no sense now: it needs ${sheet.enabledWhen}${error === undefined ? '' : ` (${error})`}`,
    )
}
