// A page that is opened from the disk may not start a web worker, and the search runs in one. There, this class runs the
// worker's script in a hidden frame of the page instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = this.onerror = this.onmessageerror = null;
      this.waiting = [];
      this.inside = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html><title>worker</title>";
      this.frame.addEventListener("load", () => this.start(new URL(url, document.baseURI).href), { once: true });
      (document.body || document.documentElement).append(this.frame);
    }

    start(url) {
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => setTimeout(() => this.deliver(new MessageEvent("message", { data })));
      const script = inside.document.createElement("script");
      script.addEventListener("load", () => {
        this.inside = inside;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
      script.addEventListener("error", () => this.deliver(new Event("error")));
      script.src = url;
      inside.document.body.append(script);
    }

    deliver(event) {
      this["on" + event.type]?.(event);
      this.dispatchEvent(event);
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
      else this.waiting.push(data);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
