// Browsers allow no worker to a page that is opened from disk. There the search runs in an empty frame instead, which
// gets the worker's script and is spoken to as a worker is. Elsewhere nothing changes.
window.IFrameWorker = class extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    this.inside = frame.contentWindow;
    this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    const script = this.inside.document.createElement("script");
    this.loaded = new Promise((resolve) => { script.onload = resolve; });
    script.src = url;
    this.inside.document.body.append(script);
  }
  postMessage(data) {
    this.loaded.then(() => this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })));
  }
};
if (location.protocol === "file:") window.Worker = window.IFrameWorker;
