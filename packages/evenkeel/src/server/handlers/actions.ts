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
  loadClaimsEngine,
  loadPatternEngine,
  matchesPattern,
  Operation,
  operationTargetLabel,
  requestAnnotation,
  validateCustomObject,
  type ActionDefinition,
  type JsonObject,
  type JsonValue,
  type SchemaNode,
  type UnstructuredObject,
} from '#api'
import { randomUuid } from '#base'
import type { ObjectDraft } from '#builtins'
import type { WireResponse } from '#wire'
import { managerName } from '../registry/field-manager.ts'
import type { RequestContext, ResourceRef, ServerContext, User } from '../request-context.ts'
import { replyDocument } from '../response.ts'
import { prepareConversions, servedType, toServed } from '../storage/codec.ts'
import { createObject } from './create.ts'
import { getObject } from './get.ts'
import { readOptionsBody } from './request-body.ts'
import { guaranteedUpdate } from './update.ts'
import { readWriteOptions } from './write-options.ts'

interface ActionContext {
  readonly call: RequestContext
  /** The object itself, not the path below it. */
  readonly target: ResourceRef
  readonly server: ServerContext
  readonly sheet: ActionDefinition
  readonly object: UnstructuredObject
  readonly input: JsonValue | undefined
  readonly dryRun: boolean
}

/** @throws {ApiError} `NotFound`, `Conflict` (not now), `Invalid` (what was given along), `ServiceUnavailable` (nobody answers). */
export async function performAction(
  call: RequestContext,
  { subresource, ...target }: ResourceRef,
  server: ServerContext,
): Promise<WireResponse> {
  const sheet = target.resource.actions?.find(({ name }) => name === subresource?.name)
  if (!sheet) throw new ApiError('NotFound', `there is no action ${JSON.stringify(subresource?.name)}`)
  const { dryRun } = readWriteOptions(call.query, 'CreateOptions')
  const body = (await readOptionsBody(call.request)) ?? {}
  const stored = await getObject(target, server)
  await prepareConversions([stored], target.resource)
  const acting: ActionContext = {
    call,
    target,
    server,
    sheet,
    object: toServed(stored, target.resource),
    input: body['input'],
    dryRun,
  }
  await checkInput(acting)
  await checkEnabled(acting, acting.object)
  const { status, ...result } = await runAction(acting)
  return replyDocument(
    call,
    { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'ActionResult', action: sheet.name, form: sheet.form, ...result },
    { status, choice: { format: 'json' } },
  )
}

async function runAction(acting: ActionContext): Promise<{ status: number } & JsonObject> {
  switch (acting.sheet.form) {
    case 'state':
      return setState(acting)
    case 'token':
      return stampRequest(acting)
    case 'operation':
      return createRequest(acting)
    default:
      return callHandler(acting)
  }
}

async function setState(acting: ActionContext): Promise<{ status: number } & JsonObject> {
  const before = acting.object.metadata.resourceVersion
  const { stored } = await updateForAction(
    acting,
    (current) => applyMergePatch(current as unknown as JsonObject, acting.sheet.patch ?? {}) as ObjectDraft,
  )
  const { resourceVersion } = toServed(stored, acting.target.resource).metadata
  return { status: 200, changed: resourceVersion !== before }
}

async function stampRequest(acting: ActionContext): Promise<{ status: number } & JsonObject> {
  const {
    server: { clock, random },
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
  await updateForAction(
    acting,
    (current) =>
      applyMergePatch(current as unknown as JsonObject, {
        metadata: { annotations: { [requestAnnotation(sheet.name)]: text } },
      }) as ObjectDraft,
  )
  return { status: 202, token }
}

/** An object is judged again each time it is read: it may have begun to go, or been switched off, meanwhile. */
function updateForAction(
  acting: ActionContext,
  changed: (current: UnstructuredObject) => ObjectDraft,
): ReturnType<typeof guaranteedUpdate> {
  const { call, target, server, dryRun } = acting
  return guaranteedUpdate(
    async (current) => {
      await checkEnabled(acting, current)
      return changed(current)
    },
    { call, target, server, dryRun, manager: managerName('', call.request.headers['user-agent']) },
  )
}

async function createRequest({
  call,
  target,
  server,
  sheet,
  object,
  input,
  dryRun,
}: ActionContext): Promise<{ status: number } & JsonObject> {
  const resource = server.registry.find(Operation.group, Operation.version, Operation.plural)
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
    server,
    dryRun,
    manager: managerName('', call.request.headers['user-agent']),
  })
  const { metadata } = toServed(stored, resource)
  return { status: 202, operation: { name: metadata.name, namespace } }
}

/** A controller in another process answers as soon as it sees the question. */
async function callHandler(acting: ActionContext): Promise<{ status: number } & JsonObject> {
  const {
    call: { user },
    target,
    server,
    sheet,
    object,
    input,
  } = acting
  const answerer = server.actionHandlers.find(target.resource, sheet.name)
  if (!answerer) return createRequest(acting)
  return { status: 200, output: await answerer({ object, input, user, signal: server.stopping }) }
}

async function checkInput({ sheet, input, target }: ActionContext): Promise<void> {
  const subject = { group: target.resource.group, kind: target.resource.kind, name: target.name }
  if (sheet.input === undefined) {
    if (input !== undefined)
      throw invalid(subject, [fieldError.forbidden(FieldPath.of('input'), `the action ${sheet.name} takes nothing`)])
    return
  }
  await loadPatternEngine()
  const whole = input === undefined ? {} : { input }
  const schema = {
    type: 'object',
    properties: { input: sheet.input },
    ...(sheet.input['required'] !== undefined && { required: ['input'] }),
  } as unknown as SchemaNode
  const errors = validateCustomObject(whole, schema, { matches: matchesPattern })
  if (errors.length > 0) throw invalid(subject, errors)
}

async function checkEnabled(
  { sheet, target: { resource, name } }: ActionContext,
  object: UnstructuredObject,
): Promise<void> {
  const subject = { group: resource.group, kind: resource.plural, name }
  if (object.metadata.deletionTimestamp !== undefined)
    throw conflict(subject, `it is being deleted: ${sheet.name} makes no sense any more`)
  if (sheet.enabledWhen === undefined) return
  const language = await loadClaimsEngine()
  const { value, error } = language
    .compile(sheet.enabledWhen, { variable: 'object' })
    .evaluate(object as unknown as JsonObject)
  if (error !== undefined || isJsonObject(value) || value !== true)
    throw conflict(
      subject,
      `${sheet.name} makes no sense now: it needs ${sheet.enabledWhen}${error === undefined ? '' : ` (${error})`}`,
    )
}

/*
 * Who answers actions of the form `call`: functions of this process, by kind and action.
 *
 * Only reading is done there; what changes the world is recorded as intent and done by a reconcile. Whoever answers can
 * come and go while the server runs.
 */

interface ActionRequest {
  readonly object: UnstructuredObject
  readonly input: JsonValue | undefined
  readonly user: User
  readonly signal: AbortSignal
}

export type ActionHandler = (asked: ActionRequest) => Promise<JsonValue> | JsonValue

export class ActionHandlers {
  readonly #byAction = new Map<string, ActionHandler>()

  /** The last one who wants to answer does; the function takes it away again. */
  add(
    { group, kind }: { readonly group: string; readonly kind: string },
    action: string,
    answer: ActionHandler,
  ): () => void {
    const id = actionId(group, kind, action)
    this.#byAction.set(id, answer)
    return () => {
      if (this.#byAction.get(id) === answer) this.#byAction.delete(id)
    }
  }

  find({ group, kind }: { readonly group: string; readonly kind: string }, action: string): ActionHandler | undefined {
    return this.#byAction.get(actionId(group, kind, action))
  }
}

function actionId(group: string, kind: string, action: string): string {
  return `${group}/${kind}/${action}`
}
