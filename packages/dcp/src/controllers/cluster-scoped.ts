/**
 * Changes as a source of a controller. Runs and services of the machinery have a namespace; the objects of this group do not.
 */
import type { ChangeFeed } from '@evenkeel/workloads'
import { channelSource, type ChannelEvent, type Source } from 'evenkeel/controller'

export function clusterScoped(name: string, feed: ChangeFeed): Source {
  return channelSource({ name, events: ({ signal }) => withoutNamespace(feed.events(signal)) })
}

async function* withoutNamespace(events: AsyncIterable<ChannelEvent>): AsyncGenerator<ChannelEvent> {
  for await (const { namespace: _, ...event } of events) yield event
}
