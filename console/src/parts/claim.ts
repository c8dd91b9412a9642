// Which tab of a browser has a session. A duplicated tab has a copy of its identity, and takes it.

const channelName = 'hostler-sessions';

export class Claim {
  private readonly channel = new BroadcastChannel(channelName);

  /** `lost` is called when another tab claims the same. */
  constructor(identity: string, lost: () => void) {
    this.channel.onmessage = ({ data }) => {
      if (data === identity) lost();
    };
    this.channel.postMessage(identity);
  }

  close(): void {
    this.channel.close();
  }
}
