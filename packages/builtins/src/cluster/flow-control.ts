/**
 * FlowSchemas and PriorityLevelConfigurations: stored with their defaults, without further validation.
 */
import { textIn } from 'evenkeel/unstable/builtins'
import { draftIn, setDefault, setDefaultNumber } from '../defaulting.ts'
import type { StrategyHooks } from '../strategy-flags.ts'

export const flowSchemaStrategy: StrategyHooks = {
  default(object) {
    const spec = draftIn(object, 'spec')
    if (spec) setDefaultNumber(spec, 'matchingPrecedence', 1000)
  },
}

export const priorityLevelStrategy: StrategyHooks = {
  default(object) {
    const spec = draftIn(object, 'spec')
    const exempt = spec && draftIn(spec, 'exempt')
    if (exempt) {
      setDefault(exempt, 'nominalConcurrencyShares', 0)
      setDefault(exempt, 'lendablePercent', 0)
    }
    const limited = spec && draftIn(spec, 'limited')
    if (limited === undefined) return
    setDefault(limited, 'nominalConcurrencyShares', 30)
    setDefault(limited, 'lendablePercent', 0)
    const response = draftIn(limited, 'limitResponse')
    const queuing = response && textIn(response, 'type') === 'Queue' ? draftIn(response, 'queuing') : undefined
    if (queuing === undefined) return
    for (const [field, number] of [
      ['queues', 64],
      ['handSize', 8],
      ['queueLengthLimit', 50],
    ] as const)
      setDefaultNumber(queuing, field, number)
  },
}
