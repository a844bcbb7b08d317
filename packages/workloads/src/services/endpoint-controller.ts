/**
 * The controller of Endpoints: says whether the Service exists that an Endpoint names. The Service does the rest.
 */
import { dependsOn, type ControllerDeclaration } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { Endpoint, Service, type EndpointObject } from './service-kind.ts'

export function endpointController(): ControllerDeclaration<typeof Endpoint, ManagedContext> {
  const service = dependsOn(Service, ({ spec }: EndpointObject) => spec.service, { ready: () => true })
  return {
    for: Endpoint,
    concurrency: 16,
    verbs: [service],
    async reconcile({ spec }, context) {
      const [found] = await service.find(context)
      if (found?.object) context.status.condition('Ready', true, { reason: 'ServiceFound' })
      else
        context.status.condition('Ready', false, {
          reason: 'ServiceNotFound',
          message: `there is no Service ${spec.service} in this namespace: create it, or correct spec.service`,
        })
    },
  }
}
