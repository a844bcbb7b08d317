/**
 * POST of an action: `/apis/demo.example.com/v1/namespaces/shop/apps/web/restart`.
 *
 * An action needs a permission of its own (`create apps/restart`), apart from updating the object. The server records
 * the request in the form that the action declares; a controller does the work. An action is refused while its object
 * is being deleted, or while its `enabledWhen` is false.
 *
 * Actions of the form `call` are answered by functions of this process, by kind and action. They only read; a change of
 * state is recorded as a request and done by a reconcile. Handlers can be added and removed while the server runs.
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
  patternMatcher,
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
import { randomUuid, type Clock, type Random } from '#base'
import type { ObjectDraft } from '@evenkeel/builtins'
import type { WireResponse } from '#wire'
import { managerName } from '../registry/field-manager.ts'
import type { Registry } from '../registry/registry.ts'
import type { RequestContext, ResourceRef, User } from '../request-context.ts'
import { replyDocument } from '../response.ts'
import { prepareConversions, servedType, toServed } from '../storage/codec.ts'
import type { Storage } from '../storage/storage.ts'
import type { CreateHandler } from './create.ts'
import { getObject } from './get.ts'
import { readOptionsBody } from './request-body.ts'
import type { UpdateHandler } from './update.ts'
import { readWriteOptions } from './write-options.ts'

interface ActionServices {
  readonly storage: Storage
  readonly registry: Registry
  readonly creates: CreateHandler
  readonly updates: UpdateHandler
  readonly handlers: ActionHandlers
  readonly clock: Clock
  readonly random: Random
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

interface ActionContext {
  readonly context: RequestContext
  /** The object itself, without the subresource. */
  readonly target: ResourceRef
  readonly definition: ActionDefinition
  readonly object: UnstructuredObject
  readonly input: JsonValue | undefined
  readonly dryRun: boolean
}

type ActionResult = { status: number } & JsonObject

export class ActionRequestHandler {
  readonly #storage: Storage
  readonly #registry: Registry
  readonly #creates: CreateHandler
  readonly #updates: UpdateHandler
  readonly #handlers: ActionHandlers
  readonly #clock: Clock
  readonly #random: Random
  readonly #stopping: AbortSignal

  constructor({ storage, registry, creates, updates, handlers, clock, random, stopping }: ActionServices) {
    this.#storage = storage
    this.#registry = registry
    this.#creates = creates
    this.#updates = updates
    this.#handlers = handlers
    this.#clock = clock
    this.#random = random
    this.#stopping = stopping
  }

  /** @throws {ApiError} `NotFound`, `Conflict` (not enabled now), `Invalid` (its input), `ServiceUnavailable` (no handler). */
  async handle(context: RequestContext, { subresource, ...target }: ResourceRef): Promise<WireResponse> {
    const definition = target.resource.actions?.find(({ name }) => name === subresource?.name)
    if (!definition) throw new ApiError('NotFound', `there is no action ${JSON.stringify(subresource?.name)}`)
    const { dryRun } = readWriteOptions(context.query, 'CreateOptions')
    const body = (await readOptionsBody(context)) ?? {}
    const stored = await getObject(target, this.#storage)
    await prepareConversions([stored], target.resource)
    const object = toServed(stored, target.resource)
    const acting: ActionContext = { context, target, definition, object, input: body['input'], dryRun }
    await checkInput(acting)
    await checkEnabled(acting, acting.object)
    const { status, ...result } = await this.#run(acting)
    return replyDocument(
      context,
      {
        apiVersion: 'evenkeel.dev/v1alpha1',
        kind: 'ActionResult',
        action: definition.name,
        form: definition.form,
        ...result,
      },
      { status, choice: { format: 'json' } },
    )
  }

  async #run(acting: ActionContext): Promise<ActionResult> {
    switch (acting.definition.form) {
      case 'state':
        return this.#setState(acting)
      case 'token':
        return this.#stampRequest(acting)
      case 'operation':
        return this.#createOperation(acting)
      default:
        return this.#callHandler(acting)
    }
  }

  async #setState(acting: ActionContext): Promise<ActionResult> {
    const before = acting.object.metadata.resourceVersion
    const { stored } = await this.#update(
      acting,
      (current) => applyMergePatch(current, acting.definition.patch ?? {}) as ObjectDraft,
    )
    const { resourceVersion } = toServed(stored, acting.target.resource).metadata
    return { status: 200, changed: resourceVersion !== before }
  }

  async #stampRequest(acting: ActionContext): Promise<ActionResult> {
    const {
      context: { user },
      definition,
      input,
    } = acting
    const token = randomUuid(this.#random)
    const text = formatActionRequest({
      token,
      by: user.name,
      time: formatTime(this.#clock.now()),
      ...(input !== undefined && { input }),
    })
    const annotations = { [requestAnnotation(definition.name)]: text }
    await this.#update(acting, (current) => applyMergePatch(current, { metadata: { annotations } }) as ObjectDraft)
    return { status: 202, token }
  }

  /** Checks the object again after every read: it may be deleted or disabled by now. */
  #update(
    acting: ActionContext,
    changed: (current: UnstructuredObject) => ObjectDraft,
  ): ReturnType<UpdateHandler['update']> {
    const { context, target, dryRun } = acting
    return this.#updates.update(
      async (current) => {
        await checkEnabled(acting, current)
        return changed(current)
      },
      { context, target, dryRun, manager: managerName('', context.request.headers['user-agent']) },
    )
  }

  async #createOperation(acting: ActionContext): Promise<ActionResult> {
    const { context, target, definition, dryRun } = acting
    const resource = this.#registry.find(Operation.group, Operation.version, Operation.plural)
    if (!resource)
      throw new ApiError(
        'ServiceUnavailable',
        `the action ${definition.name} creates an Operation, and that kind is not installed: run a controller that has the action`,
      )
    const namespace = target.namespace || 'default'
    const stored = await this.#creates.create(() => operationDraft(acting, namespace), {
      context,
      target: { resource, namespace, name: '' },
      dryRun,
      manager: managerName('', context.request.headers['user-agent']),
    })
    const { metadata } = toServed(stored, resource)
    return { status: 202, operation: { name: metadata.name, namespace } }
  }

  /** Without a handler in this process the action becomes an Operation for a controller in another one. */
  async #callHandler(acting: ActionContext): Promise<ActionResult> {
    const {
      context: { user },
      target,
      definition,
      object,
      input,
    } = acting
    const handler = this.#handlers.find(target.resource, definition.name)
    if (!handler) return this.#createOperation(acting)
    return { status: 200, output: await handler({ object, input, user, signal: this.#stopping }) }
  }
}

function operationDraft(
  { context, target: { resource }, definition, object, input }: ActionContext,
  namespace: string,
): ObjectDraft {
  const { apiVersion } = servedType(resource)
  const { kind } = resource
  const { name = '', uid = '' } = object.metadata
  return {
    apiVersion: Operation.apiVersion,
    kind: Operation.kind,
    metadata: {
      generateName: `${name.slice(0, 180)}-${definition.name}-`,
      namespace,
      labels: { [operationTargetLabel]: uid },
      ownerReferences: [{ apiVersion, kind, name, uid }],
    },
    spec: {
      action: definition.name,
      target: { apiVersion, kind, name, uid },
      by: context.user.name,
      ...(input !== undefined && { input }),
      ...(definition.ttlSeconds !== undefined && { ttlSeconds: definition.ttlSeconds }),
    },
  }
}

async function checkInput({ definition, input, target }: ActionContext): Promise<void> {
  const subject = { group: target.resource.group, kind: target.resource.kind, name: target.name }
  if (definition.input === undefined) {
    if (input !== undefined)
      throw invalid(subject, [
        fieldError.forbidden(FieldPath.of('input'), `the action ${definition.name} takes nothing`),
      ])
    return
  }
  await loadPatternEngine()
  const whole = input === undefined ? {} : { input }
  const schema = {
    type: 'object',
    properties: { input: definition.input },
    ...(definition.input['required'] !== undefined && { required: ['input'] }),
  } as SchemaNode
  const errors = validateCustomObject(whole, schema, { matches: patternMatcher() })
  if (errors.length > 0) throw invalid(subject, errors)
}

async function checkEnabled(
  { definition, target: { resource, name } }: ActionContext,
  object: UnstructuredObject,
): Promise<void> {
  const subject = { group: resource.group, kind: resource.plural, name }
  if (object.metadata.deletionTimestamp !== undefined)
    throw conflict(subject, `it is being deleted: ${definition.name} is not available`)
  if (definition.enabledWhen === undefined) return
  const language = await loadClaimsEngine()
  const { value, error } = language.compile(definition.enabledWhen, { variable: 'object' }).evaluate(object)
  if (error !== undefined || isJsonObject(value) || value !== true)
    throw conflict(
      subject,
      `${definition.name} is not available now (requires ${definition.enabledWhen}${error === undefined ? '' : `: ${error}`})`,
    )
}

interface ActionRequest {
  readonly object: UnstructuredObject
  readonly input: JsonValue | undefined
  readonly user: User
  readonly signal: AbortSignal
}

export type ActionHandler = (asked: ActionRequest) => Promise<JsonValue> | JsonValue

export class ActionHandlers {
  readonly #byAction = new Map<string, ActionHandler>()

  /** Adds a handler; the last one added answers. The returned function removes it. */
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
