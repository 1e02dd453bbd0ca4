package petclinic.owner;

import org.springframework.http.HttpStatus;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.view.RedirectView;

/** 303: the form was right, the browser goes on with a GET. */
final class SeeOther {

    private SeeOther() {}

    static ModelAndView owner(int ownerId) {
        RedirectView view = new RedirectView("/owners/" + ownerId);
        view.setStatusCode(HttpStatus.SEE_OTHER);
        view.setExposeModelAttributes(false);
        return new ModelAndView(view);
    }
}
