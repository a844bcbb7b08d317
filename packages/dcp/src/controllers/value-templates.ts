/**
 * The functions of templates: addresses and ports of Services.
 *
 *   portForServing "web"      the port on which this program serves web; one is chosen when the annotation has none
 *   addressForServing "web"   the address on which it does so
 *   portFor "db"              the port of the Service db; waits until there is one
 *   addressFor "db"           its address
 */
import type { KubeObject } from 'evenkeel'
import { textOf, valuesOf, numberOf, type Values } from '../rules/field-values.ts'
import { renderTemplate, TemplateError, type TemplateFunction } from '../templates/template.ts'
import { serviceName, type ServiceProducer } from './service-producers.ts'

/** A Service does not exist yet, or has no address yet: a value is possible later. */
export class ServiceNotReady extends Error {
  override readonly name = 'ServiceNotReady'
  readonly service: string

  constructor(service: string, what: string) {
    super(`the Service ${service} ${what}`)
    this.service = service
  }
}

interface ValueSources {
  readonly object: KubeObject
  readonly producers: readonly ServiceProducer[]
  /** The ports that were chosen for this object, by Service. */
  readonly chosenPorts: ReadonlyMap<string, number>
  /** The Services that exist, by name. */
  readonly findService: (name: string) => KubeObject | undefined
}

/** Returns a function that renders a text. It throws {@link ServiceNotReady} when a value is only possible later. */
export function valueRenderer(sources: ValueSources, onProblem: (message: string) => void): (text: string) => string {
  const context = { functions: functionsOf(sources), object: sources.object as object as Values }
  return (text) => {
    try {
      return renderTemplate(text, context)
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      // The program is started all the same: its own error says more than none.
      onProblem(`the template ${JSON.stringify(text)} has no value: ${error.message}`)
      return text
    }
  }
}

function functionsOf(sources: ValueSources): Readonly<Record<string, TemplateFunction>> {
  const produced = (given: unknown): ServiceProducer => {
    const name = serviceName(String(given))
    const found = sources.producers.find(({ service }) => service === name)
    if (!found) throw new TemplateError(`the annotation service-producer does not name the Service ${name}`)
    return found
  }
  const status = (given: unknown): readonly [name: string, status: Values] => {
    const name = serviceName(String(given))
    const service = sources.findService(name)
    if (!service) throw new ServiceNotReady(name, 'does not exist')
    return [name, valuesOf(service as object as Values, 'status') ?? {}]
  }
  return {
    portForServing: (given) => {
      const { service, port } = produced(given)
      if (port !== 0) return port
      const chosen = sources.chosenPorts.get(service)
      if (chosen === undefined) throw new ServiceNotReady(service, 'has no port of this program yet')
      return chosen
    },
    addressForServing: (given) => produced(given).address || 'localhost',
    portFor: (given) => {
      const [name, { effectivePort }] = status(given)
      if (typeof effectivePort !== 'number' || effectivePort === 0) throw new ServiceNotReady(name, 'has no port yet')
      return effectivePort
    },
    addressFor: (given) => {
      const [name, values] = status(given)
      const address = textOf(values, 'effectiveAddress')
      if (address === '' || numberOf(values, 'effectivePort') === 0)
        throw new ServiceNotReady(name, 'has no address yet')
      return address
    },
  }
}
